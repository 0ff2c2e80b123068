#!/usr/bin/env node
// The health check of a container: ends with 0 if the role on PORT is ready, and else with 1.
//   health-check.js <process id of the container's init> <seconds>
// Docker restarts containers that have ended, but not ones that hang. So the check ends the processes of init if none
// of them has answered /healthz for the given time although their port accepts connections. Docker then restarts them.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, uptime } from 'node:os';
import { join } from 'node:path';

const [init, limit] = process.argv.slice(2).map(Number);
if (!(init > 0 && limit > 0)) {
  console.error('usage: health-check.js <process id of init> <seconds>');
  process.exit(2);
}
const { PORT } = process.env;
/** Shorter than the limit, so that a single check ends nothing. */
const ANSWER_MS = Math.min(10_000, (limit * 1000) / 4);
/** Holds the seconds since the start of the machine, which no change of the clock alters. */
const silentSince = join(tmpdir(), `consent-ledger-silent-${PORT}`);
const startedAt = uptime();

/** @returns the status; 'silent': a connection without an answer; 'none': no connection */
async function ask(path) {
  try {
    const { status } = await fetch(`http://localhost:${PORT}${path}`, { signal: AbortSignal.timeout(ANSWER_MS) });
    return status;
  } catch (error) {
    return error.name === 'TimeoutError' ? 'silent' : 'none';
  }
}

function firstSilence() {
  try {
    return Number(readFileSync(silentSince, 'utf8'));
  } catch {
    writeFileSync(silentSince, String(startedAt));
    return startedAt;
  }
}

function* childrenOf(parent) {
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      // The name of the program, in parentheses, may contain anything.
      const [, ppid] = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1).split(' ');
      if (Number(ppid) === parent) yield Number(name);
    } catch {
      // It has ended meanwhile.
    }
  }
}

const [alive, ready] = await Promise.all([ask('/healthz'), ask('/readyz')]);
if (alive !== 'silent') rmSync(silentSince, { force: true });
else if (uptime() - firstSilence() >= limit) {
  console.error(`Nothing has answered for ${limit} seconds: ending the processes.`);
  for (const child of childrenOf(init)) process.kill(child, 'SIGKILL');
}
process.exit(ready === 200 ? 0 : 1);
