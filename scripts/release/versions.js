// The places that state the version of the project: all packages have the same one.
import { readFile, writeFile } from 'node:fs/promises';

const constant = (version) => `VERSION = '${version}'`;
/** Files with a text that states the version, each with this text. */
const TEXTS = {
  'src/platform/version.ts': constant,
  'verifier-cli/src/version.ts': constant,
  'sdk/node/src/version.ts': constant,
  'sdk/browser/src/banner/presentation.ts': (version) => `SDK = 'browser ${version}'`,
  'docs/operations.md': (version) => `newTag: ${version} }`,
};
const UNRELEASED = '## [Unreleased]\n';
// Semantic Versioning, without build metadata.
const VERSION = /^\d+\.\d+\.\d+(-[0-9a-z.-]+)?$/;

/**
 * Returns each place that does not state the version of `package.json`.
 * @param root URL of the repository's folder, with a slash at its end
 */
export async function otherVersions(root) {
  const read = (name) => readFile(new URL(name, root), 'utf8');
  const { version, workspaces } = JSON.parse(await read('package.json'));
  const { version: locked, packages } = JSON.parse(await read('package-lock.json'));
  const stated = [
    ['package-lock.json', locked],
    ...['', ...workspaces].map((name) => [`package-lock.json, ${name}`, packages[name].version]),
  ];
  for (const name of workspaces) stated.push([name, JSON.parse(await read(`${name}/package.json`)).version]);
  const others = stated.filter(([, found]) => found !== version).map(([place]) => place);
  for (const [name, text] of Object.entries(TEXTS)) if (!(await read(name)).includes(text(version))) others.push(name);
  return others;
}

/**
 * Sets the version everywhere, and gives what CHANGELOG.md has under “Unreleased” to it.
 * @param day of the release, e.g. `2026-11-26`
 * @throws Error if the version is no version, a place states another version now, or nothing is under “Unreleased”
 */
export async function setVersion(root, version, day) {
  if (!VERSION.test(version)) throw new Error(`"${version}" is no version such as 1.0.0 or 1.0.0-rc.1.`);
  const others = await otherVersions(root);
  if (others.length > 0) throw new Error(`These places state another version than package.json: ${others.join('; ')}`);
  const change = async (name, changed) =>
    writeFile(new URL(name, root), changed(await readFile(new URL(name, root), 'utf8')));
  const changes = await readFile(new URL('CHANGELOG.md', root), 'utf8');
  if (!changes.includes(UNRELEASED)) throw new Error('CHANGELOG.md has nothing under "Unreleased".');
  const { version: before, workspaces } = JSON.parse(await readFile(new URL('package.json', root), 'utf8'));
  const json = (edit) => (text) => {
    const content = JSON.parse(text);
    edit(content);
    return `${JSON.stringify(content, null, 2)}\n`;
  };
  const set = (content) => Object.assign(content, { version });
  for (const name of ['package.json', ...workspaces.map((folder) => `${folder}/package.json`)])
    await change(name, json(set));
  const setLocked = (lock) => [lock, ...['', ...workspaces].map((name) => lock.packages[name])].forEach(set);
  await change('package-lock.json', json(setLocked));
  for (const [name, text] of Object.entries(TEXTS))
    await change(name, (content) => content.replace(text(before), text(version)));
  await change('CHANGELOG.md', (content) => content.replace(UNRELEASED, `## [${version}] - ${day}\n`));
}

/** Returns the section of CHANGELOG.md about a version. @throws Error if there is none */
export function changesOf(changelog, version) {
  const section = changelog.split(/^(?=## \[)/m).find((part) => part.startsWith(`## [${version}]`)) ?? '';
  const text = section.slice(section.indexOf('\n')).trim();
  if (text === '') throw new Error(`CHANGELOG.md says nothing about ${version}.`);
  return `${text}\n`;
}
