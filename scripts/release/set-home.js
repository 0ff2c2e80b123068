// Writes where the project lives into every package of a release: node scripts/release/set-home.js URL
// URL is that of the repository. The fields are not committed, because a fork has another home.
import { readFile, writeFile } from 'node:fs/promises';

/** Folders of the packages that a release contains. */
const RELEASED = ['', 'verifier-cli/', 'sdk/browser/', 'sdk/conformance/', 'sdk/mobile/', 'sdk/node/', 'sdk/react/'];

const root = new URL('../../', import.meta.url);
const [url = ''] = process.argv.slice(2);
if (!/^https:\/\/[^\s/]+(\/[^\s/]+)+$/.test(url)) {
  console.error(
    'Set REPOSITORY_URL to the URL of the repository, such as https://git.example.org/owner/name. Each package of the release states it.',
  );
  process.exit(1);
}
for (const folder of RELEASED) {
  const file = new URL(`${folder}package.json`, root);
  const content = JSON.parse(await readFile(file, 'utf8'));
  const directory = folder === '' ? {} : { directory: folder.slice(0, -1) };
  Object.assign(content, {
    repository: { type: 'git', url: `git+${url}.git`, ...directory },
    homepage: `${url}#readme`,
    bugs: { url: `${url}/issues` },
  });
  await writeFile(file, `${JSON.stringify(content, null, 2)}\n`);
}
