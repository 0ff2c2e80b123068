import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { panelDescription, toolApiText } from './descriptions.js';
import { yamlText } from './yaml-text.js';

// Run by the build: these take a third of a second to generate, too long for the start of a process.
const folder = join('dist', 'openapi');
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'panel-api.yaml'), yamlText(panelDescription()));
writeFileSync(join(folder, 'tool-api.json'), toolApiText());
