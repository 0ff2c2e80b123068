import { pathToFileURL } from 'node:url';
import type { Files, OperatedInstallation } from './installation.js';

const CLOCKS = ['clock_timestamp', 'now'] as const;

/**
 * Sets the clocks of an installation back: that of its processes and that of its database. A test has
 * no minutes to wait, so it lets the first part of a story happen in the past.
 * @param ms how far
 * @returns variables for processes with this clock
 */
export async function setClocksBack(
  installation: OperatedInstallation,
  files: Files,
  ms: number,
): Promise<NodeJS.ProcessEnv> {
  files.write(
    'past-clock.mjs',
    `const RealDate = Date;
     globalThis.Date = class Date extends RealDate {
       constructor(...given) { if (given.length === 0) super(RealDate.now() - ${ms}); else super(...given); }
       static now() { return RealDate.now() - ${ms}; }
     };`,
  );
  // Sessions of the service state their search path, so the operator exchanges the functions themselves.
  const past = `pg_catalog.true_clock_timestamp() - interval '${ms} milliseconds'`;
  await installation.sql(
    ['set allow_system_table_mods = on'],
    ...CLOCKS.flatMap((name): readonly [string][] => [
      [`alter function pg_catalog.${name}() rename to true_${name}`],
      [`create function pg_catalog.${name}() returns timestamptz language sql volatile as $$ select ${past} $$`],
    ]),
  );
  return { NODE_OPTIONS: `--import=${pathToFileURL(files.path('past-clock.mjs')).href}` };
}

/** Lets the clocks of the database be right again, from the next connection on. */
export async function setClocksRight(installation: OperatedInstallation): Promise<void> {
  await installation.sql(
    ['set allow_system_table_mods = on'],
    ...CLOCKS.flatMap((name): readonly [string][] => [
      [`drop function pg_catalog.${name}()`],
      [`alter function pg_catalog.true_${name}() rename to ${name}`],
    ]),
  );
}
