import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentSkills } from './agent-skills.js';
import { bundlePages } from './bundle-pages.js';
import { PAGES } from './public-links.js';

// Run by the build: an installation has no folder `docs`.
const paths = PAGES.map(({ path }) => path);
const bundle = bundlePages(paths, agentSkills(), (file) => readFileSync(file, 'utf8'));
writeFileSync(join('dist', 'openapi', 'pages.json'), JSON.stringify(bundle));
