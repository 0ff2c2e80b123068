import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { Counter, Gauge, type Registry } from 'prom-client';

/** Each look wakes the process, which costs an idle one more than all of its work. */
const RESOLUTION_MS = 250;
const NANOSECONDS = 1e9;
const PERCENTILES = [50, 99, 100] as const;

/**
 * Creates the metrics of the process, under the names of the Prometheus client libraries, and of
 * Node's event loop: its delay since the last scrape. `serve` shows those of two processes.
 * @param role label of every series
 * @returns a function that stops the measurement
 */
export function createProcessMetrics(registry: Registry, role: string): () => void {
  const registers = [registry];
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  new Gauge({
    name: 'nodejs_eventloop_lag_seconds',
    help: 'Lag of the event loop since the last scrape, by percentile; 100 is the maximum.',
    labelNames: ['role', 'percentile'] as const,
    registers,
    collect() {
      for (const percentile of PERCENTILES) {
        // The measured delay includes the resolution of the timer, which is not lag.
        const seconds = (delay.percentile(percentile) || 0) / NANOSECONDS - RESOLUTION_MS / 1000;
        this.set({ role, percentile: String(percentile) }, Math.max(0, seconds));
      }
      delay.reset();
    },
  });
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Processor time of this process, user and system.',
    labelNames: ['role'] as const,
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc({ role }, (user + system) / 1e6);
    },
  });
  new Gauge({
    name: 'process_start_time_seconds',
    help: 'Start time of this process, in seconds since 1970.',
    labelNames: ['role'] as const,
    registers,
  }).set({ role }, performance.timeOrigin / 1000);
  const memory = new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory.',
    labelNames: ['role'] as const,
    registers,
    collect() {
      const { rss, heapUsed, external } = process.memoryUsage();
      memory.set({ role }, rss);
      heap.set({ role }, heapUsed);
      outside.set({ role }, external);
    },
  });
  const heap = new Gauge({
    name: 'nodejs_heap_used_bytes',
    help: 'Used part of the heap.',
    labelNames: ['role'] as const,
    registers,
  });
  const outside = new Gauge({
    name: 'nodejs_external_memory_bytes',
    help: 'Memory of buffers and other objects outside the heap.',
    labelNames: ['role'] as const,
    registers,
  });
  return () => delay.disable();
}
