import { type Logger, pino } from 'pino';
import * as z from 'zod';
import type { Config } from '../config/index.js';

/**
 * Creates the logger of a process.
 * @param config the configuration; if it names no format, a terminal gets readable lines, and everything else gets JSON
 * @param output usually standard error
 */
export function createLogger(
  { logLevel: level, logFormat }: Pick<Config, 'logLevel' | 'logFormat'>,
  output: NodeJS.WritableStream & { readonly isTTY?: boolean },
): Logger {
  const format = logFormat ?? (output.isTTY === true ? 'text' : 'json');
  return pino({ level }, { write: (json: string) => output.write(format === 'json' ? json : logLine(json)) });
}

const Logged = z.looseObject({
  level: z.number(),
  time: z.number(),
  msg: z.string().optional(),
  role: z.string().optional(),
  process: z.number().optional(),
  part: z.string().optional(),
  stack: z.string().optional(),
});

const LEVELS: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: '',
  40: 'WARNING',
  50: 'ERROR',
  60: 'FATAL',
};
/** For a longer list, only the length and both ends are shown. */
const WHOLE_LIST = 3;

/**
 * Formats a JSON log line as readable text: time of day in UTC, level unless it is `info`, the part that logs, the
 * message and its members. A stack trace follows on separate lines.
 * @param json a line of pino
 * @returns the line with a line feed at its end; control characters are escaped, so that no logged value can act on the
 * terminal
 */
export function logLine(json: string): string {
  const logged = Logged.parse(JSON.parse(json));
  // Omitted, because process and machine are those of the terminal.
  const { level, time, msg = '', role, process, part, stack, pid: _pid, hostname: _hostname, ...others } = logged;
  const from = [role, process, part].filter((one) => one !== undefined).join(' ');
  const members = Object.entries(others)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}=${shown(value)}`);
  const words = [
    new Date(time).toISOString().slice(11, 19),
    LEVELS[level] ?? String(level),
    from === '' ? '' : `[${from}]`,
    msg,
    members.length === 0 ? '' : `(${members.join(', ')})`,
  ];
  const frames = stack?.split('\n').filter((line) => /^\s+at /.test(line)) ?? [];
  return [words.filter((word) => word !== '').join(' '), ...frames].map((line) => `${escaped(line)}\n`).join('');
}

function shown(value: unknown): string {
  if (Array.isArray(value) && value.length > WHOLE_LIST)
    return `${value.length}: ${shown(value[0])} … ${shown(value.at(-1))}`;
  if (typeof value === 'string') return /^[^\s,=()"]+$/.test(value) ? value : JSON.stringify(value);
  return Array.isArray(value) ? value.map(shown).join(' ') : JSON.stringify(value);
}

/** C0 and C1, DEL, and marks that reorder text. */
function escaped(text: string): string {
  return text.replace(
    /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
