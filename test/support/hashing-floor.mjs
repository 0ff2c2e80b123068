// The least that any verifier of a package must do: unpack every file, hash it, and parse every line of JSON and the entries in them. Nothing is checked.
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { open } from 'yauzl';

const [path] = process.argv.slice(2);
const zip = await promisify(open)(path, { lazyEntries: true, autoClose: false });
const entries = [];
await new Promise((resolve) => {
  zip.on('entry', (entry) => {
    entries.push(entry);
    zip.readEntry();
  });
  zip.on('end', resolve);
  zip.readEntry();
});
let bytes = 0;
let parsed = 0;
for (const entry of entries) {
  const stream = await promisify(zip.openReadStream.bind(zip))(entry);
  const digest = createHash('sha256');
  const isLines = entry.fileName.endsWith('.ndjson');
  let rest = '';
  for await (const chunk of stream) {
    digest.update(chunk);
    bytes += chunk.length;
    if (!isLines) continue;
    const lines = (rest + chunk.toString('latin1')).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      const value = JSON.parse(line);
      if (typeof value.entry === 'string') {
        JSON.parse(value.entry);
        createHash('sha256').update('\0').update(value.entry).digest();
      }
      parsed += 1;
    }
  }
  digest.digest();
}
zip.close();
console.log(JSON.stringify({ bytes, parsed }));
