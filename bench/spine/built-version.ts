import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const SITES_SOURCE = 'bench/spine/sites-process.ts';
const SITES_PROGRAM = 'dist/sites-process.js';

/** A version of the project with its programs. */
export interface BuiltVersion {
  readonly name: string;
  /** The command line. */
  readonly ledger: string;
  /** sites-process.ts with the code of this version. */
  readonly sitesProgram: string;
  remove(): Promise<void>;
}

/** The version that the benchmark itself belongs to. */
export const PRESENT_VERSION: BuiltVersion = { ...programsOf('now', ROOT), remove: async () => undefined };

/**
 * Builds a commit in a temporary folder.
 * @throws Error if this is no clone with that commit, or the build fails
 */
export async function buildVersion(commit: string): Promise<BuiltVersion> {
  const folder = await mkdtemp(join(tmpdir(), 'consent-ledger-bench-before-'));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    await run(ROOT, 'git', 'clone', '--quiet', '--shared', '--no-checkout', ROOT, folder);
    await run(folder, 'git', 'checkout', '--quiet', commit);
    await installPackages(folder);
    await run(folder, 'npm', 'run', 'build');
    await mkdir(join(folder, 'bench/spine'), { recursive: true });
    await cp(join(ROOT, SITES_SOURCE), join(folder, SITES_SOURCE));
    await run(
      folder,
      'npm',
      'exec',
      '--',
      'esbuild',
      SITES_SOURCE,
      '--bundle',
      '--platform=node',
      '--format=esm',
      '--packages=external',
      `--outfile=${SITES_PROGRAM}`,
    );
  } catch (cause) {
    await remove();
    throw new Error(`The version ${commit} could not be built. BENCH_BEFORE names another one.`, { cause });
  }
  return { ...programsOf(commit, folder), remove };
}

/** Copies the packages of this version, or lets npm install those of the other one where they differ. */
async function installPackages(folder: string): Promise<void> {
  const [here, there] = await Promise.all([ROOT, folder].map((root) => readFile(join(root, 'package-lock.json'))));
  if (here === undefined || there === undefined || !here.equals(there)) {
    await run(folder, 'npm', 'ci', '--no-audit', '--no-fund');
    return;
  }
  // The packages of the project itself are relative links, which then lead into the other folder.
  const packages = 'node_modules';
  await cp(join(ROOT, packages), join(folder, packages), { recursive: true, verbatimSymlinks: true });
}

function programsOf(name: string, root: string) {
  return { name, ledger: join(root, 'bin/consent-ledger.js'), sitesProgram: join(root, SITES_PROGRAM) };
}

async function run(cwd: string, command: string, ...args: readonly string[]): Promise<void> {
  await promisify(execFile)(command, args, { cwd, maxBuffer: 64 * 1024 * 1024 });
}
