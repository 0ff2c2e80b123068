import { writeFile } from 'node:fs/promises';
import { panelDocument } from './panel-documentation.js';
import { toolApiText } from './tool-api.js';

// Run by `npm run openapi`, from the root of the repository.
await writeFile('docs/openapi/tool-api.json', toolApiText());
await writeFile('docs/panel-api.md', panelDocument());
