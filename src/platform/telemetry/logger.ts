import { type Logger, pino } from 'pino';
import type { Config } from '../config/index.js';
import { logLine } from './log-line.js';

/**
 * Creates the logger of a process.
 * @param config without a format, a terminal gets lines for people, and everything else JSON
 * @param output usually standard error
 */
export function createLogger(
  { logLevel: level, logFormat }: Pick<Config, 'logLevel' | 'logFormat'>,
  output: NodeJS.WritableStream & { readonly isTTY?: boolean },
): Logger {
  const format = logFormat ?? (output.isTTY === true ? 'text' : 'json');
  return pino({ level }, { write: (json: string) => output.write(format === 'json' ? json : logLine(json)) });
}
