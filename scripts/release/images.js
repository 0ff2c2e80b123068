// Prints the images that the Dockerfile, the composition and CI name, each once.
import { readFile } from 'node:fs/promises';

const FILES = ['Dockerfile', 'docker-compose.yml', '.github/workflows/ci.yml'];
const texts = await Promise.all(FILES.map((name) => readFile(new URL(`../../${name}`, import.meta.url), 'utf8')));
const named = texts.join('\n').matchAll(/^(?:ARG NODE_IMAGE=| *image: )(\S+)$/gm);
// This project's own image is in no registry.
const images = new Set([...named].map(([, image]) => image).filter((image) => !image.startsWith('consent-ledger')));
console.log([...images].join('\n'));
