// Prints what CHANGELOG.md says about the version of package.json.
import { readFile } from 'node:fs/promises';
import { changesOf } from './versions.js';

const read = (name) => readFile(new URL(`../../${name}`, import.meta.url), 'utf8');
process.stdout.write(changesOf(await read('CHANGELOG.md'), JSON.parse(await read('package.json')).version));
