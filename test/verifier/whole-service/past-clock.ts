import { pathToFileURL } from 'node:url';
import type { Files, OperatedInstallation } from './installation.js';

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
  const past = `pg_catalog.clock_timestamp() - interval '${ms} milliseconds'`;
  const define = (name: string) =>
    `create function public.${name}() returns timestamptz language sql volatile as $$ select ${past} $$`;
  // Unqualified calls of later connections find these functions before those of PostgreSQL.
  await installation.sql(
    [define('clock_timestamp')],
    [define('now')],
    [
      `do $$ begin execute format('alter database %I set search_path = public, pg_catalog', current_database()); end $$`,
    ],
  );
  return { NODE_OPTIONS: `--import=${pathToFileURL(files.path('past-clock.mjs')).href}` };
}

/** Lets the clocks of the database be right again, from the next connection on. */
export async function setClocksRight(installation: OperatedInstallation): Promise<void> {
  await installation.sql(
    [`do $$ begin execute format('alter database %I reset search_path', current_database()); end $$`],
    ['drop function public.clock_timestamp()'],
    ['drop function public.now()'],
  );
}
