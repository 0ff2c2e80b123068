import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { relative } from 'node:path';
import type { Reporter, TestModule, TestSpecification } from 'vitest/node';
import { type FileUsage, timeOf } from './usage.js';

/** What a run of tests used: processor time in milliseconds, and counts. */
export interface RunUsage extends FileUsage {
  /** The process that starts the workers and compiles the modules. */
  readonly runner: number;
  readonly postgres: number;
  /** All processor time, in units of the calibration of the same run. */
  readonly ofCalibration: number;
}

/**
 * Prints which sweeps run, what the run used, and with `TEST_TIMES=1` what each file used, the dearest first.
 * `TEST_USAGE` names a file that gets the sums as JSON.
 */
export default class UsageReporter implements Reporter {
  /** Says which cases of the sweeps run, where large tests do. */
  onTestRunStart(specifications: readonly TestSpecification[]): void {
    if (!specifications.some(({ moduleId }) => moduleId.includes('.large.'))) return;
    const { TEST_SEED: seed, SWEEPS_IN_FULL: inFull } = process.env;
    console.log(
      inFull === undefined
        ? `Sweeps are sampled by TEST_SEED=${seed}. npm run test:exhaustive runs all of them.`
        : `At least a seventh of each sweep. In full, because their subject changed: ${inFull.split('\n').join(', ')}`,
    );
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const used = modules.flatMap((module) => {
      const { usage } = module.meta();
      return usage === undefined ? [] : [{ file: relative('.', module.moduleId), ...usage }];
    });
    if (process.env.TEST_TIMES === '1') printFiles(used);
    const sum = sumOf(used);
    console.log(describeUsage(sum));
    if (process.env.TEST_USAGE !== undefined) writeFileSync(process.env.TEST_USAGE, `${JSON.stringify(sum)}\n`);
  }
}

function sumOf(used: readonly FileUsage[]): RunUsage {
  const total = (name: keyof FileUsage) => used.reduce((sum, file) => sum + file[name], 0);
  const { user, system } = process.cpuUsage();
  const files = { tests: total('tests'), programs: total('programs') };
  const times = { ...files, runner: (user + system) / 1_000, postgres: timeOfPostgres() };
  const calibration = (CALIBRATIONS * total('calibration')) / Math.max(1, used.length);
  const all = Object.values(times).reduce((sum, time) => sum + time, 0);
  return {
    ...times,
    calibration,
    ofCalibration: all / calibration,
    processes: total('processes'),
    chromium: total('chromium'),
    databases: total('databases'),
    sessions: total('sessions'),
  };
}

/** @returns processor time of the server of the run and of its sessions */
function timeOfPostgres(): number {
  const home = `${tmpdir()}/consent-ledger-test-`;
  const servers = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && commandOf(pid).startsWith(home));
  return servers.reduce((sum, pid) => sum + timeOf(Number(pid)), 0);
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

/** A unit is as much work as this many calibrations. */
const CALIBRATIONS = 10;

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

function describeUsage(sum: RunUsage): string {
  const { tests, programs, runner, postgres, ofCalibration, processes, chromium, databases, sessions } = sum;
  return [
    `Processor time: tests ${seconds(tests)}, programs ${seconds(programs)}, PostgreSQL ${seconds(postgres)},`,
    `runner ${seconds(runner)}; together ${ofCalibration.toFixed(0)} times the calibration.`,
    `Started: ${processes} processes, Chromium ${chromium} times, ${databases} databases, ${sessions} sessions.`,
  ].join(' ');
}

function printFiles(used: readonly (FileUsage & { readonly file: string })[]): void {
  console.log('  tests  programs  processes  Chromium  databases  sessions  file');
  for (const { tests, programs, processes, chromium, databases, sessions, file } of used.toSorted(
    (a, b) => b.tests + b.programs - a.tests - a.programs,
  ))
    console.log(
      [
        seconds(tests).padStart(8),
        seconds(programs).padStart(8),
        String(processes).padStart(9),
        String(chromium).padStart(9),
        String(databases).padStart(10),
        String(sessions).padStart(9),
        ` ${file}`,
      ].join(' '),
    );
}
