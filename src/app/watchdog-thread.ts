import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { HeartbeatMonitor } from './heartbeat-monitor.js';
import type { WatchdogData } from './watchdog.js';

// The thread of watchdog.ts. When it acts, nothing that depends on the event loop of the process works any more:
// neither the logger nor an orderly shutdown.
/** File descriptor of the process. `process.stderr` of a thread has none, and goes through the event loop. */
const STANDARD_ERROR = 2;
const { beats, limits }: WatchdogData = workerData;
const silence = new HeartbeatMonitor(limits);
let last = 0;

setInterval(() => {
  const now = Atomics.load(beats, 0);
  if (now !== last) {
    silence.heard();
    silence.started();
  }
  last = now;
  if (silence.tick() !== 'hung') return;
  const line = {
    level: 60,
    time: Date.now(),
    pid: process.pid,
    msg: 'the event loop does not turn: ending the process',
  };
  try {
    writeSync(STANDARD_ERROR, `${JSON.stringify(line)}\n`);
  } finally {
    process.kill(process.pid, 'SIGKILL');
  }
}, limits.tickMs);
