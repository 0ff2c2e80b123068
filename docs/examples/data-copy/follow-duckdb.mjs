// Brings a copy of a site's records in DuckDB up to date: adds new records, and erases what the service has erased. Needs Node 20.19 or
// later and the packages @consent-ledger/node and @duckdb/node-api.
//   BASE_URL=http://127.0.0.1:8080 API_KEY=svc_live_… API_USER=api@… API_PASSWORD=… node follow-duckdb.mjs consents.duckdb
import { existsSync, renameSync, rmSync } from 'node:fs';
import { ConsentLedger } from '@consent-ledger/node';
import { DuckDBInstance } from '@duckdb/node-api';

const { BASE_URL: baseUrl, API_KEY: apiKey, API_USER: email, API_PASSWORD: password } = process.env;
const ledger = new ConsentLedger({ baseUrl, apiKey, user: { email, password }, application: 'data-copy-example/1.0' });
// Every personal field in the copy must be erased later, so the copy takes visitor_id alone.
const fields = ['id', 'created_at', 'consent_type', 'decision', 'language', 'visitor_id'];
const ROWS_OF_A_TRANSACTION = 1000;

process.umask(0o077);
const [, , file] = process.argv;
const rewritten = `${file}.new`;
rmSync(rewritten, { force: true });
const instance = await DuckDBInstance.create(file);
const copy = await instance.connect();
await copy.run(`create table if not exists consents (id text primary key, created_at timestamptz, consent_type text, decision text,
  language text, visitor_id text, erased_at timestamptz)`);
await copy.run('create table if not exists progress (cursor text)');
const [stored] = (await copy.runAndReadAll('select cursor from progress')).getRowObjects();

let [rows, cursor] = [0, stored?.cursor];
// Rows, erasures and the cursor change together, so that no crash loses an erasure.
const commit = async () => {
  await copy.run('delete from progress');
  await copy.run('insert into progress values ($cursor)', { cursor: cursor ?? null });
  await copy.run('commit');
};
await copy.run('begin');
for await (const change of ledger.exportChanges({ fields, ...(cursor && { cursor }) })) {
  if ('erased_record' in change) {
    await copy.run('update consents set visitor_id = null, erased_at = $at::timestamptz where id = $id', {
      id: change.erased_record.id,
      at: change.announced_at,
    });
  } else {
    const values = Object.fromEntries(fields.map((name) => [name, change[name]]));
    const places = fields.map((name) => `$${name}`).join(', ');
    await copy.run(`insert or ignore into consents (${fields.join(', ')}) values (${places})`, values);
  }
  cursor = change.cursor;
  rows += 1;
  if (rows % ROWS_OF_A_TRANSACTION === 0) {
    await commit();
    await copy.run('begin');
  }
}
await commit();
await ledger.signOut();
const [[all, erased]] = (await copy.runAndReadAll('select count(*), count(erased_at) from consents')).getRows();

// DuckDB leaves old values in its file, also after CHECKPOINT. Only a new file has none, so the copy is written anew after each run
// that changed something.
if (rows > 0) {
  await copy.run(`attach '${rewritten.replaceAll("'", "''")}' as rewritten`);
  await copy.run(`copy from database ${await databaseName()} to rewritten`);
  await copy.run('detach rewritten');
}
copy.closeSync();
instance.closeSync();
if (existsSync(rewritten)) renameSync(rewritten, file);
console.log(`${all} records, ${erased} of them erased`);

async function databaseName() {
  const [[name]] = (await copy.runAndReadAll('select current_database()')).getRows();
  return `"${String(name).replaceAll('"', '""')}"`;
}
