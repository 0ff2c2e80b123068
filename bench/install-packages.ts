import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * Installs other products into a folder, which becomes a package of its own. None of their install scripts runs.
 * @param packages exact versions by name, so that two runs measure the same programs
 * @throws Error if npm cannot install them
 */
export async function installPackages(folder: string, packages: Readonly<Record<string, string>>): Promise<void> {
  const about = { name: 'peer', private: true, type: 'module', dependencies: packages };
  await writeFile(join(folder, 'package.json'), JSON.stringify(about));
  try {
    await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: folder });
  } catch (cause) {
    const names = Object.keys(packages).join(', ');
    throw new Error(`npm could not install ${names}. The benchmark needs a package registry.`, { cause });
  }
}
