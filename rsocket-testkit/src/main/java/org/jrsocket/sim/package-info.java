/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * The deterministic simulator: the stream engine between two modelled devices, in virtual time, with every choice taken
 * from one seed.
 *
 * <p>From the bottom up: {@link org.jrsocket.sim.Simulation} is the clock, the queue of what happens next, the seed and
 * the trace; {@link org.jrsocket.sim.SimMemory} registered memory of one machine; {@link
 * org.jrsocket.sim.SimQueuePair}, {@link org.jrsocket.sim.SimCompletions} and {@link org.jrsocket.sim.Link} the verbs
 * and what lies between two devices; {@link org.jrsocket.sim.Rules} what is watched on the wire; {@link
 * org.jrsocket.sim.CSocket} a model of librdmacm's rsocket; {@link org.jrsocket.sim.World} the applications at both
 * ends and what is checked of them. See docs/simulation.md.
 *
 * <p>Nothing here knows threads, clocks or native memory: a run depends on its seed alone. May use {@code protocol} and
 * {@code wire}, but no verbs.
 */
package org.jrsocket.sim;
