import { pino } from 'pino';
import { type Installation, openInstallation } from '../../app/installation.js';
import { type Config, type Environment, loadConfig } from '../../platform/config/index.js';

/** What commands work with: the environment and the standard streams, passed in. */
export interface CliContext {
  readonly env: Environment;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
}

/** @throws ConfigError */
export function configOf(context: CliContext): Config {
  return loadConfig(context.env);
}

/**
 * Runs a command with the installation that the environment names, beside whatever else uses it, and closes it.
 * Warnings of the service's parts go to standard error.
 * @param migrates whether the schema of a database given by `DATABASE_URL` is brought up to date first
 */
export async function withInstallation<T>(
  context: CliContext,
  work: (installation: Installation) => Promise<T>,
  migrates = false,
): Promise<T> {
  const config = configOf(context);
  const level = config.logLevel === 'info' ? 'warn' : config.logLevel;
  const logger = pino({ level }, { write: (line: string) => context.stderr.write(line) });
  const installation = await openInstallation(config, logger, { role: 'admin', migrates });
  try {
    return await work(installation);
  } finally {
    await installation.close();
  }
}

/**
 * Prints a result: with `--json` one JSON object and nothing else, else lines for people.
 * @param lines of the human output
 */
export function print(
  context: CliContext,
  options: { readonly json?: boolean | undefined },
  value: object,
  lines: readonly string[],
): void {
  context.stdout.write(options.json === true ? `${JSON.stringify(value)}\n` : `${lines.join('\n')}\n`);
}
