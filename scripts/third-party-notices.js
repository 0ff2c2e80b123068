// The licences of the libraries that a bundle contains, as they ask for.
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/**
 * @param name of the bundle
 * @param base folder to which the inputs are relative
 * @param inputs paths of the files in the bundle
 */
export async function thirdPartyNotices(name, base, inputs) {
  const folders = new Set(
    inputs.map((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]).filter(Boolean),
  );
  const texts = [];
  for (const folder of [...folders].sort()) {
    const path = resolve(base, folder);
    const library = JSON.parse(await readFile(join(path, 'package.json'), 'utf8'));
    const file = (await readdir(path)).find((entry) => /^licen[cs]e(?:\.|$)/i.test(entry));
    if (file === undefined) throw new Error(`${library.name} has no licence file`);
    const text = (await readFile(join(path, file), 'utf8')).trim();
    texts.push(`${library.name} ${library.version} (${library.license})\n\n${text}\n`);
  }
  return `${name} contains these libraries:\n\n${texts.join(`\n${'-'.repeat(80)}\n\n`)}`;
}
