import { spawnSync } from 'node:child_process';

/** Prints a last line with the most memory that the process ever held, in KiB, and the time of its processors, in ms. */
const GAUGE = `data:text/javascript,${encodeURIComponent(
  `process.on('exit', () => { const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage(); process.stderr.write('\\n' + JSON.stringify({ maxRSS, cpu: (userCPUTime + systemCPUTime) / 1000 })); });`,
)}`;

/** What a process printed and used. */
export interface MeasuredRun {
  readonly stdout: string;
  /** The most memory it ever held, in MiB. */
  readonly mebibytes: number;
  /** Time of processors, all threads, in seconds. */
  readonly seconds: number;
}

/** Runs a script in a process of its own, to its end. @throws Error if it could not be run, or said nothing of what it used */
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

/** One line about a run beside the floor, which does nothing but unpack, hash and parse the same bytes. */
export function besideFloor(what: string, run: MeasuredRun, floor: MeasuredRun): string {
  return (
    `${what}: ${run.seconds.toFixed(1)} s of processor time, at most ${Math.round(run.mebibytes)} MiB; ` +
    `hashing and parsing alone ${floor.seconds.toFixed(1)} s; ratio ${(floor.seconds / run.seconds).toFixed(2)}`
  );
}
