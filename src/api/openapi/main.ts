import { readFile, writeFile } from 'node:fs/promises';
import { renewHttpApiDocument } from './http-api-documentation.js';
import { panelDocument } from './panel-documentation.js';
import { toolApiText } from './tool-api.js';

const HTTP_API = 'docs/http-api.md';

// Run by `npm run openapi`, from the root of the repository.
await writeFile('docs/openapi/tool-api.json', toolApiText());
await writeFile('docs/panel-api.md', panelDocument());
await writeFile(HTTP_API, renewHttpApiDocument(await readFile(HTTP_API, 'utf8')));
