import { spawnSync } from 'node:child_process';

/**
 * Prints a last line with the peak memory of the process, in KiB, and its processor time, in ms.
 */
const GAUGE = `data:text/javascript,${encodeURIComponent(
  `process.on('exit', () => { const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage(); process.stderr.write('\\n' + JSON.stringify({ maxRSS, cpu: (userCPUTime + systemCPUTime) / 1000 })); });`,
)}`;

/** Output and resource usage of a process. */
export interface MeasuredRun {
  readonly stdout: string;
  /** Peak memory in MiB. */
  readonly mebibytes: number;
  /** Processor time of all threads, in seconds. */
  readonly seconds: number;
}

/**
 * Runs a script in a separate process until it ends.
 * @throws Error if it failed or did not report its usage
 */
export function measured(script: string, ...args: readonly string[]): MeasuredRun {
  const result = spawnSync(process.execPath, ['--import', GAUGE, script, ...args], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const gauge = result.stderr.split('\n').at(-1) ?? '';
  if (!gauge.startsWith('{')) throw new Error(`${script} ended early: ${result.stderr}`);
  const { maxRSS, cpu } = JSON.parse(gauge);
  return { stdout: result.stdout, mebibytes: maxRSS / 1024, seconds: cpu / 1000 };
}

/**
 * Returns one line that compares a run with the floor, which only unpacks, hashes and parses the
 * same bytes.
 */
export function besideFloor(what: string, run: MeasuredRun, floor: MeasuredRun): string {
  return (
    `${what}: ${run.seconds.toFixed(1)} s of processor time, at most ${Math.round(run.mebibytes)} MiB; ` +
    `hashing and parsing alone ${floor.seconds.toFixed(1)} s; ratio ${(floor.seconds / run.seconds).toFixed(2)}`
  );
}
