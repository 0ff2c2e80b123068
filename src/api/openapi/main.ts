import { readFile, writeFile } from 'node:fs/promises';
import { configurationDocument } from '../../platform/config/documentation.js';
import { renewHttpApiDocument } from './http-api-documentation.js';
import { panelDocument } from './panel-documentation.js';

const HTTP_API = 'docs/http-api.md';

// Run by `npm run openapi`, from the root of the repository.
await writeFile('docs/configuration.md', configurationDocument());
await writeFile('docs/panel-api.md', panelDocument());
await writeFile(HTTP_API, renewHttpApiDocument(await readFile(HTTP_API, 'utf8')));
