import { createInterface } from 'node:readline';
import { openEmbeddedPostgres } from '../../../../src/platform/database/embedded/index.js';

/**
 * A process of its own that opens the embedded PostgreSQL, says so in one line of JSON, and releases it when it is told
 * anything on standard input.
 */
const [dataDir = '', rootHomeBase = ''] = process.argv.slice(2);
const server = await openEmbeddedPostgres({ dataDir, rootHomeBase, log: (line) => console.error(line) });
console.log(JSON.stringify({ url: server.superuserUrl }));
for await (const _ of createInterface({ input: process.stdin })) break;
await server.release();
process.exit(0);
