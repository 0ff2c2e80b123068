// Sets the version of all packages: npm run release:version -- 1.0.0-rc.1
import { setVersion } from './versions.js';

const [version = ''] = process.argv.slice(2);
await setVersion(new URL('../../', import.meta.url), version, new Date().toISOString().slice(0, 10));
console.log(`All packages have the version ${version}. Commit it, and push the tag v${version}.`);
