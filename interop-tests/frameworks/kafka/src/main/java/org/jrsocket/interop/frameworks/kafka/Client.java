/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.frameworks.kafka;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Makes a topic, sends records to it and reads them back, in a consumer group, over and over; then deletes the topic.
 * Fails unless every byte is right.
 *
 * <p>{@code Client ADDRESS PORT TOPIC RECORDS SIZE SECONDS SEED}: RECORDS at a time, for so long, and once at least.
 * TOPIC, which is the group's name too, must be new. Prints {@code verified=}, the values of the records so far, both
 * ways, each time they were read; at the end the same as {@code bytes=}.
 */
public final class Client {

    private static final Duration LIMIT = Duration.ofMinutes(5);

    /** Nothing that goes wrong on the way is told like this. */
    private static final String ALTERED = "ALTERED: ";

    private final String broker;
    private final String topic;
    private final int size;
    private final List<byte[]> values = new ArrayList<>();
    private final SplittableRandom random;
    /** Records that were sent and read. */
    private long done;

    private Client(String broker, String topic, int records, int size, long seed) {
        this.broker = broker;
        this.topic = topic;
        this.size = size;
        random = new SplittableRandom(seed);
        for (int i = 0; i < records; i++) {
            values.add(new byte[size]);
        }
    }

    public static void main(String[] args) throws Exception {
        int records = Integer.parseInt(args[3]);
        int size = Integer.parseInt(args[4]);
        Client client = new Client(args[0] + ':' + args[1], args[2], records, size, Long.parseLong(args[6]));
        long seconds = Long.parseLong(args[5]);
        try (Admin admin = Admin.create(client.settings(Map.of("default.api.timeout.ms", 240_000)))) {
            admin.createTopics(Set.of(new NewTopic(client.topic, 1, (short) 1)))
                    .all()
                    .get();
            client.work(System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds));
            admin.deleteTopics(Set.of(client.topic)).all().get();
        }
        System.out.println("bytes=" + client.bytes());
    }

    private long bytes() {
        return 2 * done * size;
    }

    private Map<String, Object> settings(Map<String, Object> more) {
        Map<String, Object> settings = new HashMap<>(more);
        settings.put("bootstrap.servers", broker);
        settings.put("request.timeout.ms", 120_000);
        settings.put("enable.metrics.push", false); // many classes, for a broker that wants none
        return settings;
    }

    private void work(long end) throws Exception {
        Map<String, Object> producing = settings(Map.of("delivery.timeout.ms", 240_000, "max.block.ms", 240_000));
        Map<String, Object> consuming =
                settings(Map.of("group.id", topic, "auto.offset.reset", "earliest", "default.api.timeout.ms", 240_000));
        try (KafkaProducer<byte[], byte[]> producer =
                        new KafkaProducer<>(producing, new ByteArraySerializer(), new ByteArraySerializer());
                KafkaConsumer<byte[], byte[]> consumer =
                        new KafkaConsumer<>(consuming, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.subscribe(Set.of(topic));
            do {
                values.forEach(random::nextBytes);
                produce(producer);
                consume(consumer);
                done += values.size();
                System.out.println("verified=" + bytes());
            } while (System.nanoTime() - end < 0);
            consumer.commitSync(Map.of(new TopicPartition(topic, 0), new OffsetAndMetadata(done)));
        }
    }

    private void produce(KafkaProducer<byte[], byte[]> producer) throws Exception {
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        for (byte[] value : values) {
            sent.add(producer.send(new ProducerRecord<>(topic, value)));
        }
        for (Future<RecordMetadata> each : sent) {
            each.get();
        }
    }

    private void consume(KafkaConsumer<byte[], byte[]> consumer) {
        long deadline = System.nanoTime() + LIMIT.toNanos();
        int read = 0;
        while (read < values.size()) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException(read + " records of " + values.size() + " after " + LIMIT);
            }
            for (ConsumerRecord<byte[], byte[]> each : consumer.poll(Duration.ofSeconds(1))) {
                if (read == values.size()
                        || each.offset() != done + read
                        || !Arrays.equals(each.value(), values.get(read))) {
                    throw new IllegalStateException(ALTERED + "record " + (done + read) + " is wrong: " + each);
                }
                read++;
            }
        }
    }
}
