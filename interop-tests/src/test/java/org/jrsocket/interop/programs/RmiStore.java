/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.programs;

import java.net.ServerSocket;
import java.rmi.NotBoundException;
import java.rmi.Remote;
import java.rmi.RemoteException;
import java.rmi.registry.LocateRegistry;
import java.rmi.registry.Registry;
import java.rmi.server.UnicastRemoteObject;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A service over RMI: a store of byte arrays that also calls its callers back. */
final class RmiStore {

    static final int PARTS = 16;
    static final int PART = 64 * 1024;
    static final int SMALL_CALLS = 100;

    /** The service. */
    public interface Store extends Remote {
        void put(int number, byte[] part) throws RemoteException;

        byte[] get(int number) throws RemoteException;

        int twice(int number) throws RemoteException;

        /** Calls the visitor, which is at the caller's, with every part. */
        void showAll(Visitor visitor) throws RemoteException;
    }

    /** Of the client, for the service to call. */
    public interface Visitor extends Remote {
        void visit(int number, byte[] part) throws RemoteException;
    }

    private RmiStore() {}

    public static void main(String[] args) throws Exception {
        System.setProperty("java.rmi.server.hostname", args[1]); // where the other end finds the objects
        if (args[0].equals("server")) {
            serve();
        } else {
            System.out.println("bytes=" + use(LocateRegistry.getRegistry(args[1], Integer.parseInt(args[2]))));
            System.exit(0);
        }
    }

    private static void serve() throws Exception {
        Map<Integer, byte[]> parts = new ConcurrentHashMap<>();
        Store store = new Store() {
            @Override
            public void put(int number, byte[] part) {
                parts.put(number, part);
            }

            @Override
            public byte[] get(int number) {
                return parts.get(number);
            }

            @Override
            public int twice(int number) {
                return 2 * number;
            }

            @Override
            public void showAll(Visitor visitor) throws RemoteException {
                for (Map.Entry<Integer, byte[]> part : parts.entrySet()) {
                    visitor.visit(part.getKey(), part.getValue());
                }
            }
        };
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        LocateRegistry.createRegistry(port).rebind("store", UnicastRemoteObject.exportObject(store, 0));
        System.out.println("port=" + port);
        Thread.sleep(Long.MAX_VALUE); // exported objects alone may be collected
        System.out.println(store);
    }

    private static long use(Registry registry) throws RemoteException, NotBoundException {
        Store store = (Store) registry.lookup("store");
        for (int i = 0; i < PARTS; i++) {
            store.put(i, Payload.bytes(i, PART));
        }
        for (int i = 0; i < PARTS; i++) {
            Payload.same(Payload.hash(Payload.bytes(i, PART)), Payload.hash(store.get(i)), "part " + i);
        }
        for (int i = 0; i < SMALL_CALLS; i++) {
            Payload.same(2 * i, store.twice(i), "call " + i);
        }
        Map<Integer, String> seen = new ConcurrentHashMap<>();
        Visitor visitor = (number, part) -> seen.put(number, Payload.hash(part));
        store.showAll((Visitor) UnicastRemoteObject.exportObject(visitor, 0));
        Payload.same(PARTS, seen.size(), "parts shown");
        seen.forEach((number, hash) ->
                Payload.same(Payload.hash(Payload.bytes(number, PART)), hash, "part shown " + number));
        return 3L * PARTS * PART;
    }
}
