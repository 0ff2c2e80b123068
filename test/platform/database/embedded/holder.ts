import { createInterface } from 'node:readline';
import { openEmbeddedPostgres } from '../../../../src/platform/database/embedded/index.js';

/**
 * A separate process that opens the embedded PostgreSQL and reports it in one line of JSON. It
 * releases the server on any input.
 */
const [dataDir = '', rootHomeBase = ''] = process.argv.slice(2);
const server = await openEmbeddedPostgres({ dataDir, rootHomeBase, log: (line) => console.error(line) });
console.log(JSON.stringify({ url: server.superuserUrl }));
for await (const _ of createInterface({ input: process.stdin })) break;
await server.release();
process.exit(0);
