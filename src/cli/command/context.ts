import type { Logger } from 'pino';
import { type Installation, type InstallationOptions, openInstallation } from '../../app/installation.js';
import { type Config, type Environment, loadConfig } from '../../platform/config/index.js';
import { createLogger } from '../../platform/telemetry/logger.js';

/** Environment and streams of a command's process, passed in so that tests can replace them. */
export interface CliContext {
  readonly env: Environment;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  /**
   * Lowers the priority of this process for long work, so that other processes of the machine, such as a service that
   * records consents, go first. An embedded database that was already started keeps its priority.
   */
  readonly lowerPriority: () => void;
}

/** Reads the configuration. @throws ConfigError */
export function configOf(context: CliContext): Config {
  return loadConfig(context.env);
}

/** Creates the logger of a command. It omits lines of level `info`, because a command prints itself what it did. */
export function commandLogger({ stderr }: CliContext, config: Config): Logger {
  const logLevel = config.logLevel === 'info' ? 'warn' : config.logLevel;
  return createLogger({ ...config, logLevel }, stderr);
}

/**
 * Opens the installation that the environment names, runs a command with it, and closes it. Other
 * processes may use the installation meanwhile. Warnings of the service go to standard error.
 * @param migrates whether the schema of a database given by `DATABASE_URL` is migrated first, and how
 * @throws ConfigError; errors of `openInstallation` and `work`
 */
export async function withInstallation<T>(
  context: CliContext,
  work: (installation: Installation) => Promise<T>,
  migrates: InstallationOptions['migrates'] = false,
): Promise<T> {
  const config = configOf(context);
  const installation = await openInstallation(config, commandLogger(context, config), {
    role: 'admin',
    migrates,
    signs: true,
  });
  try {
    return await work(installation);
  } finally {
    await installation.close();
  }
}

/**
 * Prints a result: with `--json` only one JSON object, otherwise text lines.
 * @param lines text lines without `--json`
 */
export function print(
  context: CliContext,
  options: { readonly json?: boolean | undefined },
  value: object,
  lines: readonly string[],
): void {
  context.stdout.write(options.json === true ? `${JSON.stringify(value)}\n` : `${lines.join('\n')}\n`);
}
