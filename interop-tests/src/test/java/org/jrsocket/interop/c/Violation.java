/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.c;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.regex.Pattern;

/**
 * What a peer may do wrong once it is connected, in the commands of {@link Hostile}, and what the exception says of it.
 */
enum Violation {
    DATA_LONGER_THAN_ANNOUNCED("data of 5 bytes announced as 4", "post imm 4 here ring 5"),
    DATA_SHORTER_THAN_ANNOUNCED("data of 5 bytes announced as 6", "post imm 6 here ring 5"),
    DATA_WITHOUT_BYTES("data of 0 bytes announced as 100", "post imm 100 here ring 0"),
    DATA_OF_THE_LARGEST_LENGTH("data of 0 bytes announced as 536870911", "post imm 0x1fffffff here ring 0"),
    DATA_BEYOND_WHAT_WAS_GRANTED("data of 1 bytes beyond the 0 granted", "fill", "post imm 1 ring ring 1"),
    DATA_BY_SEND("data of 0 bytes announced as 5", "post send-imm 5 0 0 0"),
    OPERATION_1("unknown kind", "post imm 0x20000005 here ring 5"),
    OPERATION_2("unknown kind", "post imm 0x40000005 here ring 5"),
    OPERATION_3("unknown kind", "post imm 0x60000005 here ring 5"),
    OPERATION_5("unknown kind", "post imm 0xa0000005 here ring 5"),
    IOMAP_ENTRY("unknown kind", "post imm 0xc0000005 here ring 5"),
    CREDITS_BEYOND_THE_WINDOW("credit limit 385", "post imm 0x80000181 0 0 0"),
    CREDITS_THAT_GO_BACK("credit limit 383", "post imm 0x8000017f 0 0 0"),
    CREDITS_FAR_AWAY("credit limit 33152", "post imm 0x80008180 0 0 0"),
    UPDATE_OF_8_BYTES("a credit update of 8 bytes", "post imm 0x80000180 table+16 table 8"),
    UPDATE_OF_32_BYTES("a credit update of 32 bytes", "post imm 0x80000180 table table 32"),
    GRANT_OF_NEGATIVE_LENGTH("a grant of 4294967295 bytes", "grant 4096 1 0xffffffff"),
    GRANT_PAST_THE_END_OF_MEMORY("a grant of 101 bytes", "grant -100 1 101"),
    CONTROL_MESSAGE_WITH_PAYLOAD("a control message of 4 bytes", "post imm 0xe0000002 here ring 4"),
    DISCONNECT_WITH_PAYLOAD("a control message of 4 bytes", "post imm 0xe0000000 here ring 4"),
    SEND_WITHOUT_IMMEDIATE_VALUE("a message that is not rsocket's", "post send 0 0 0 0"),

    WRITE_BEHIND_THE_RING(true, "post imm 5 ring+1048576 ring 5"),
    WRITE_BEFORE_THE_RING(true, "post imm 5 ring-1 ring 5"),
    WRITE_BEHIND_THE_TABLE(true, "post imm 0x80000180 table+256 table 16"),
    WRITE_INTO_THE_RING_WITH_THE_TABLES_KEY(true, "post imm 5 ring table 5"),
    WRITE_WITH_NO_KEY(true, "post imm 5 here 0 5"),
    WRITE_TO_NOWHERE(true, "post write 0 4096 77 8"),
    READ_OF_THE_RING(true, "post read 0 ring ring 8"),
    ATOMIC_ON_THE_TABLE(true, "post atomic 0 table table 8"),
    SEND_WITH_PAYLOAD(true, "post send-imm 5 0 0 5");

    /** What a peer gets for a write with a wrong key or address. */
    static final String REMOTE_ACCESS_ERROR = "status 10";

    /** What a device has refused, by the time that our end looks: devices differ in what they say of it. */
    private static final Pattern REFUSED =
            Pattern.compile("the queue pair is in error|a receive failed with IBV_WC_\\w+ \\(\\d+\\)");

    private final String cause;
    /** Our end's device has refused it, and the peer knows; else it was delivered. */
    final boolean byTheDevice;

    private final List<String> commands;

    Violation(String cause, String... commands) {
        this.cause = cause;
        this.byTheDevice = false;
        this.commands = List.of(commands);
    }

    /** Both queue pairs are in error then. */
    Violation(boolean byTheDevice, String command) {
        this.cause = null;
        this.byTheDevice = byTheDevice;
        this.commands = List.of(command);
    }

    /** Whether an exception and its causes say what it was. */
    boolean isNamed(String failure) {
        return cause == null ? REFUSED.matcher(failure).find() : failure.contains(cause);
    }

    void commit(Hostile peer) throws Exception {
        for (String command : commands) {
            String answer = peer.tell(command);
            boolean good = answer.equals("status 0") || answer.startsWith("filled ");
            assertEquals(!byTheDevice, good, () -> command + ": " + answer + '\n' + peer.program);
        }
    }
}
