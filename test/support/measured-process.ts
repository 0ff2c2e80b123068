import { execFile, spawnSync } from 'node:child_process';
import * as z from 'zod';

/**
 * Prints a last line with the peak memory of the process, in KiB, and its processor time, in ms.
 */
const GAUGE = `data:text/javascript,${encodeURIComponent(
  `process.on('exit', () => { const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage(); process.stderr.write('\\n' + JSON.stringify({ maxRSS, cpu: (userCPUTime + systemCPUTime) / 1000 })); });`,
)}`;

const MAX_OUTPUT = 64 * 1024 * 1024;
const Usage = z.object({ maxRSS: z.number(), cpu: z.number() });

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
    maxBuffer: MAX_OUTPUT,
  });
  return runOf(script, result.stdout, result.stderr);
}

/** A run that others run beside, with its wall time in seconds. */
export interface MeasuredCommand extends MeasuredRun {
  readonly wallSeconds: number;
}

/** Like `measured`, beside other work. @param env the whole environment of the process */
export function measuredCommand(
  env: NodeJS.ProcessEnv,
  script: string,
  ...args: readonly string[]
): Promise<MeasuredCommand> {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      ['--import', GAUGE, script, ...args],
      { env, maxBuffer: MAX_OUTPUT },
      (error, stdout, stderr) => {
        if (error === null)
          resolve({ ...runOf(script, stdout, stderr), wallSeconds: (performance.now() - started) / 1000 });
        else reject(new Error(`${script} ${args.join(' ')} failed: ${stderr}`, { cause: error }));
      },
    );
  });
}

function runOf(script: string, stdout: string, stderr: string): MeasuredRun {
  const gauge = stderr.split('\n').at(-1) ?? '';
  if (!gauge.startsWith('{')) throw new Error(`${script} ended early: ${stderr}`);
  const { maxRSS, cpu } = Usage.parse(JSON.parse(gauge));
  return { stdout, mebibytes: maxRSS / 1024, seconds: cpu / 1000 };
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
