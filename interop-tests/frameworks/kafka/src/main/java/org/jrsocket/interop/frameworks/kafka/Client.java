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
 * Makes a topic, sends records to it and reads them back, in a consumer group. Fails unless every byte is right.
 *
 * <p>{@code Client ADDRESS PORT RECORDS SIZE SEED}. Prints {@code bytes=}, the values of the records both ways.
 */
public final class Client {

    private static final String TOPIC = "test";
    private static final Duration LIMIT = Duration.ofMinutes(5);

    private final String broker;
    private final List<byte[]> values = new ArrayList<>();

    private Client(String broker, int records, int size, long seed) {
        this.broker = broker;
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < records; i++) {
            byte[] value = new byte[size];
            random.nextBytes(value);
            values.add(value);
        }
    }

    public static void main(String[] args) throws Exception {
        int records = Integer.parseInt(args[2]);
        int size = Integer.parseInt(args[3]);
        Client client = new Client(args[0] + ':' + args[1], records, size, Long.parseLong(args[4]));
        client.createTopic();
        client.produce();
        client.consume();
        System.out.println("bytes=" + 2L * records * size);
    }

    private Map<String, Object> settings(Map<String, Object> more) {
        Map<String, Object> settings = new HashMap<>(more);
        settings.put("bootstrap.servers", broker);
        settings.put("request.timeout.ms", 120_000);
        return settings;
    }

    private void createTopic() throws Exception {
        try (Admin admin = Admin.create(settings(Map.of("default.api.timeout.ms", 240_000)))) {
            admin.createTopics(Set.of(new NewTopic(TOPIC, 1, (short) 1))).all().get();
        }
    }

    private void produce() throws Exception {
        Map<String, Object> settings = settings(Map.of("delivery.timeout.ms", 240_000, "max.block.ms", 240_000));
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (byte[] value : values) {
                sent.add(producer.send(new ProducerRecord<>(TOPIC, value)));
            }
            for (Future<RecordMetadata> each : sent) {
                each.get();
            }
        }
    }

    private void consume() {
        Map<String, Object> settings = settings(
                Map.of("group.id", "readers", "auto.offset.reset", "earliest", "default.api.timeout.ms", 240_000));
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.subscribe(Set.of(TOPIC));
            long deadline = System.nanoTime() + LIMIT.toNanos();
            int read = 0;
            while (read < values.size()) {
                if (System.nanoTime() > deadline) {
                    throw new IllegalStateException(read + " records of " + values.size() + " after " + LIMIT);
                }
                for (ConsumerRecord<byte[], byte[]> each : consumer.poll(Duration.ofSeconds(1))) {
                    if (each.offset() != read || !Arrays.equals(each.value(), values.get(read))) {
                        throw new IllegalStateException("record " + read + " is wrong: " + each);
                    }
                    read++;
                }
            }
            consumer.commitSync(Map.of(new TopicPartition(TOPIC, 0), new OffsetAndMetadata(read)));
        }
    }
}
