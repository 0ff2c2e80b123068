import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { panelDescription, toolApiText } from './descriptions.js';
import { yamlText } from './yaml-text.js';

// Run by the build: to make these takes a third of a second, which no start of a process should pay.
const folder = join('dist', 'openapi');
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'panel-api.yaml'), yamlText(panelDescription()));
writeFileSync(join(folder, 'tool-api.json'), toolApiText());
