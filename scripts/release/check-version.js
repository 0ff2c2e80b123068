// Ends with 1 unless every place states the version: node scripts/release/check-version.js v1.0.0-rc.1
import { readFile } from 'node:fs/promises';
import { otherVersions } from './versions.js';

const root = new URL('../../', import.meta.url);
const [tag = ''] = process.argv.slice(2);
const { version } = JSON.parse(await readFile(new URL('package.json', root), 'utf8'));
const wrong = await otherVersions(root);
if (tag !== `v${version}`) wrong.unshift(`the tag ${tag}`);
if (wrong.length > 0) {
  console.error(`package.json has the version ${version}. These places state another one: ${wrong.join('; ')}`);
  process.exit(1);
}
