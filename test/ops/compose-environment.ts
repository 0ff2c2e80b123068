import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { interpolate, parseEnvFile, readComposition } from '../support/compose-file.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
export const MAKE_ENV = join(ROOT, 'ops/compose/make-env.sh');

/** The folder of an operator: docker-compose.yml, and what `make-env.sh` made beside it. */
export interface ComposeFolder {
  readonly path: string;
  /** Runs `make-env.sh` in it. @throws the error of `execFileSync` */
  makeEnv(...args: string[]): string;
  /** The file `.env`. */
  env(): Record<string, string>;
  /** Variables of a service's container, as Docker Compose would set them. */
  environmentOf(service: string): Record<string, string>;
  remove(): void;
}

/** Makes a folder with docker-compose.yml alone. */
export function composeFolder(): ComposeFolder {
  const path = mkdtempSync(join(tmpdir(), 'consent-ledger-compose-'));
  copyFileSync(join(ROOT, 'docker-compose.yml'), join(path, 'docker-compose.yml'));
  const env = (): Record<string, string> => parseEnvFile(readFileSync(join(path, '.env'), 'utf8'));
  return {
    path,
    makeEnv: (...args) => execFileSync(MAKE_ENV, args, { cwd: path, encoding: 'utf8', stdio: 'pipe' }),
    env,
    environmentOf: (service) => {
      const templates = readComposition().services[service]?.environment ?? {};
      const set = env();
      return Object.fromEntries(Object.entries(templates).map(([name, text]) => [name, interpolate(text, set)]));
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}
