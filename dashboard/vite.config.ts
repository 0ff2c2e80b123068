import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { designTokens } from '../schemas/design/tokens.js';
import { thirdPartyNotices } from '../scripts/third-party-notices.js';

const page = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** `SERVICE` is the running service to which the development server passes requests of the API. */
const service = process.env.SERVICE ?? 'http://127.0.0.1:8080';
const passed = ['/api', '/checkpoints', '/verify', '/sdk', '/openapi.yaml'];

/** Writes the licences of the libraries in the bundle beside it, as they ask for. */
const notices: Plugin = {
  name: 'third-party-notices',
  async generateBundle(_options, bundle) {
    const inputs = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? Object.keys(file.modules) : []));
    const source = await thirdPartyNotices('@consent-ledger/dashboard', page('.'), inputs);
    this.emitFile({ type: 'asset', fileName: 'THIRD-PARTY-NOTICES.txt', source });
  },
};

/** The look that the dashboard shares with the other pages. */
const tokens: Plugin = {
  name: 'design-tokens',
  enforce: 'pre',
  transform(code, id) {
    return id.endsWith('/styles/tokens.css') ? designTokens('scheme') + code : undefined;
  },
};

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: '/panel/',
  plugins: [tokens, react(), notices],
  // The schemas use Buffer in Node; for browsers there is the same without it, as the verifier's page has.
  resolve: {
    alias: [{ find: /^\.\/binary-text\.js$/, replacement: page('../schemas/crypto/browser/binary-text.ts') }],
  },
  build: {
    target: ['chrome123', 'edge123', 'firefox121', 'safari17.5'],
    // The content security policy permits no `data:` URL.
    assetsInlineLimit: 0,
    // Every browser of the target preloads modules, and needs no script for it.
    modulePreload: { polyfill: false },
    rolldownOptions: { input: [page('index.html'), page('banner-preview.html')] },
  },
  server: { proxy: Object.fromEntries(passed.map((path) => [path, { target: service }])) },
});
