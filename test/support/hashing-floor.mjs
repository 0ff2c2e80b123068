// The minimum work on a package: unpack and hash every file, parse every line of JSON and its
// entries, and hash every entry and every disclosed value. The program compares nothing and keeps
// nothing in memory.
import { createHash, hash } from 'node:crypto';
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
    // The cheapest conversion to text; its content is not used.
    const lines = (rest + chunk.toString('latin1')).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      const value = JSON.parse(line);
      if (typeof value.entry === 'string') {
        JSON.parse(value.entry);
        hash('sha256', `\0${value.entry}`, 'hex');
        for (const disclosure of value.disclosures) hash('sha256', disclosure, 'base64url');
      }
      parsed += 1;
    }
  }
  digest.digest();
}
zip.close();
console.log(JSON.stringify({ bytes, parsed }));
