import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import * as z from 'zod';

const Dependency = z.strictObject({ condition: z.string(), required: z.boolean().optional() });
const Attached = z.object({ ipv4_address: z.string().optional() });
const Service = z.object({
  image: z.string().optional(),
  profiles: z.array(z.string()).default([]),
  command: z.array(z.string()).default([]),
  environment: z.record(z.string(), z.string()).default({}),
  ports: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
  tmpfs: z.array(z.string()).default([]),
  // By name, with the fixed address if there is one.
  networks: z
    .union([
      z.array(z.string()).transform((names) => Object.fromEntries(names.map((name) => [name, Attached.parse({})]))),
      z.record(z.string(), Attached),
    ])
    .default({}),
  depends_on: z.record(z.string(), Dependency).default({}),
  healthcheck: z.object({ test: z.array(z.string()) }).optional(),
  read_only: z.boolean().default(false),
  init: z.boolean().default(false),
  restart: z.string().optional(),
  cap_drop: z.array(z.string()).default([]),
  logging: z.object({ options: z.object({ 'max-size': z.string(), 'max-file': z.string() }) }),
  security_opt: z.array(z.string()).default([]),
  stop_grace_period: z.string().optional(),
});

const Network = z.object({
  internal: z.boolean().optional(),
  ipam: z
    .strictObject({ config: z.tuple([z.strictObject({ subnet: z.string(), ip_range: z.string().optional() })]) })
    .optional(),
});

const Composition = z.object({
  services: z.record(z.string(), Service),
  networks: z.record(z.string(), Network.nullable()),
  volumes: z.record(z.string(), z.null()),
});

/** Reads docker-compose.yml, with its anchors and merges resolved and its variables as they stand. */
export function readComposition(): z.infer<typeof Composition> {
  const path = fileURLToPath(new URL('../../docker-compose.yml', import.meta.url));
  return Composition.parse(parse(readFileSync(path, 'utf8'), { merge: true }));
}

/**
 * Replaces `${NAME}`, `${NAME:-other}`, `${NAME-other}`, `${NAME:+other}` and `${NAME:?message}` as
 * Docker Compose does (Compose Specification, Interpolation). An expression in another one is always
 * evaluated, also if the outer one does not need it.
 * @throws Error with the message of `:?` if the variable is missing or empty
 */
export function interpolate(text: string, env: Readonly<Record<string, string>>): string {
  // The innermost expression has no brace and no dollar sign in it.
  const innermost = /\$\{([A-Z][A-Z0-9_]*)(?:(:?[-?+])([^${}]*))?\}/;
  let result = text;
  for (let match = innermost.exec(result); match !== null; match = innermost.exec(result)) {
    const [whole, name = '', operator = '', other = ''] = match;
    const value = substituted(env[name], operator, other);
    result = result.slice(0, match.index) + value + result.slice(match.index + whole.length);
  }
  return result;
}

function substituted(given: string | undefined, operator: string, other: string): string {
  const isMissing = operator.startsWith(':') ? given === undefined || given === '' : given === undefined;
  if (operator.endsWith('+')) return isMissing ? '' : other;
  if (!isMissing) return given ?? '';
  if (operator.endsWith('?')) throw new Error(other);
  return operator.endsWith('-') ? other : '';
}

/** Reads a `.env` file as Docker Compose does, as far as `ops/compose/make-env.sh` uses its syntax. */
export function parseEnvFile(text: string): Record<string, string> {
  const entries = text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name, quoted, bare] = /^([A-Z][A-Z0-9_]*)=(?:'([^']*)'|([^'"$\\#]*))$/.exec(line) ?? [];
      if (name === undefined) throw new Error(`not a line of a .env file: ${line}`);
      return [name, quoted ?? bare ?? ''] as const;
    });
  return Object.fromEntries(entries);
}
