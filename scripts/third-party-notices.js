// The licences of the libraries that a bundle contains, as they ask for.
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/**
 * @param base folder to which the inputs are relative
 * @param inputs paths of the files in a bundle
 * @returns the libraries in the bundle, with the text of their licence
 */
export async function bundledLibraries(base, inputs) {
  const folders = new Set(
    inputs.map((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]).filter(Boolean),
  );
  return Promise.all(
    [...folders].sort().map(async (folder) => {
      const path = resolve(base, folder);
      const { name, version, license } = JSON.parse(await readFile(join(path, 'package.json'), 'utf8'));
      return { name, version, license, text: await licenceOf(name, path) };
    }),
  );
}

/** @returns the file with the licence, or what the library says of it at the end of its README */
async function licenceOf(name, path) {
  const files = await readdir(path);
  const file = files.find((entry) => /^licen[cs]e(?:[.-]|$)/i.test(entry));
  if (file !== undefined) return (await readFile(join(path, file), 'utf8')).trim();
  const readme = files.find((entry) => /^readme\./i.test(entry));
  const said =
    readme === undefined ? null : /^#+ *licen[cs]e[\s\S]*/im.exec(await readFile(join(path, readme), 'utf8'));
  if (said === null) throw new Error(`${name} has no licence file`);
  return said[0].trim();
}

/**
 * @param name of the bundle
 * @param base folder to which the inputs are relative
 * @param inputs paths of the files in the bundle
 */
export async function thirdPartyNotices(name, base, inputs) {
  const libraries = await bundledLibraries(base, inputs);
  const texts = libraries.map(({ name, version, license, text }) => `${name} ${version} (${license})\n\n${text}\n`);
  return `${name} contains these libraries:\n\n${texts.join(`\n${'-'.repeat(80)}\n\n`)}`;
}
