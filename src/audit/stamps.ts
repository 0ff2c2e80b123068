import * as z from 'zod';
import { sha256 } from '../../schemas/crypto/digest.js';
import { toHex, utf8 } from '../../schemas/crypto/encoding.js';
import { manifestKeyText, parseCheckpoint } from '../../schemas/evidence/checkpoint.js';
import {
  isCosignatureBy,
  parseCosignatures,
  parseWitnessKey,
  verifyCosignature,
} from '../../schemas/evidence/cosignature.js';
import { parseNote, parseVerifierKey } from '../../schemas/evidence/signed-note.js';
import { verifyNote } from '../../schemas/evidence/verify-note.js';
import { verifyTimestamp } from '../../schemas/rfc3161/verify.js';
import { auditHashedContents } from './catalogue.js';
import { PAGE, type Section } from './section.js';

const Bytes = z.instanceof(Uint8Array);
const Digests = z.array(z.string());
const TokenRows = z.array(
  z.object({
    key: z.string(),
    note: z.string(),
    tsr: Bytes,
    tsr_sha256: z.string(),
    certificates: Digests,
    crls: Digests,
    ocsp: Digests,
  }),
);
type TokenRow = z.infer<typeof TokenRows>[number];
const EvidenceRows = z.array(z.object({ sha256: z.string(), kind: z.string(), bytes: Bytes }));

/** Number of tokens that one statement reads. Each may have a megabyte. */
const TOKENS = 20;

/** Verifies time stamps, the evidence gathered with them, cosignatures, and certificates of manifest keys. */
export async function auditStamps(section: Section): Promise<void> {
  await auditTokens(section);
  await auditHashedContents(section, {
    table: 'kept_evidence',
    column: 'bytes',
    detail: 'the bytes do not match their hash',
  });
  await auditCosignatures(section);
  await auditCertificates(section);
}

async function auditTokens(section: Section): Promise<void> {
  let done = 0;
  for (let after: readonly [number, number] | null = null; ; ) {
    const { rows } = await section.db.query(
      `select size || ' ' || number as key, note, tsr, tsr_sha256, certificates, crls, ocsp from checkpoint_tokens
        where (size, number) > ($1, $2) order by size, number limit ${TOKENS}`,
      [...(after ?? [-1, -1])],
    );
    const page = TokenRows.parse(rows);
    for (const row of page) await auditToken(section, row);
    done += page.length;
    await section.step(done, null);
    const last = page.at(-1);
    if (last === undefined || page.length < TOKENS) return;
    const [size = 0, number = 0] = last.key.split(' ').map(Number);
    after = [size, number];
  }
}

async function auditToken({ db, findings, trustAnchors, now }: Section, row: TokenRow): Promise<void> {
  const table = 'checkpoint_tokens';
  const { rows } = await db.query('select sha256, kind, bytes from kept_evidence where sha256 = any($1)', [
    [...row.certificates, ...row.crls, ...row.ocsp],
  ]);
  const evidence = new Map(EvidenceRows.parse(rows).map((one) => [one.sha256, one]));
  const take = (kind: string, digests: readonly string[]): Uint8Array[] =>
    digests.flatMap((digest) => {
      const found = evidence.get(digest);
      if (found?.kind === kind) return [found.bytes];
      findings.add({
        kind: 'reference-differs',
        table: 'kept_evidence',
        key: digest,
        columns: found === undefined ? [] : ['kind'],
        detail: `time stamp ${row.key} names it as ${kind}, and the table has ${found === undefined ? 'no such row' : found.kind}`,
      });
      return [];
    });
  if (toHex(sha256(row.tsr)) !== row.tsr_sha256)
    findings.add({
      kind: 'content-altered',
      table,
      key: row.key,
      columns: ['tsr', 'tsr_sha256'],
      detail: 'the response does not match its hash',
    });
  const report = await verifyTimestamp({
    token: row.tsr,
    stamped: { data: utf8(row.note) },
    trustAnchors: [...trustAnchors],
    untrusted: take('certificate', row.certificates),
    crls: take('crl', row.crls),
    ocspResponses: take('ocsp', row.ocsp),
    revocation: 'ignore',
    at: now(),
  });
  if (report.outcome === 'pass') return;
  const failed = report.checks.filter(({ outcome }) => outcome !== 'pass').map(({ id }) => id);
  findings.add({
    kind: 'stamp-invalid',
    table,
    key: row.key,
    detail: `the time stamp does not verify: ${failed.join(', ')}`,
  });
}

const CosignatureRows = z.array(
  z.object({
    size: z.number(),
    witness: z.string(),
    line: z.string(),
    cosigned_at: z.date(),
    note: z.string().nullable(),
  }),
);

async function auditCosignatures({ db, findings, step }: Section): Promise<void> {
  let after: readonly [number, string] = [-1, ''];
  for (;;) {
    const { rows } = await db.query(
      `select s.size, s.witness, s.line, s.cosigned_at, c.note from cosignatures s left join checkpoints c on c.size = s.size
        where (s.size, s.witness) > ($1, $2) order by s.size, s.witness limit ${PAGE}`,
      [...after],
    );
    const page = CosignatureRows.parse(rows);
    for (const row of page) {
      const time = await timeOf(row);
      if (time !== null && time.getTime() === row.cosigned_at.getTime()) continue;
      findings.add({
        kind: 'stamp-invalid',
        table: 'cosignatures',
        key: `${row.size} ${row.witness}`,
        columns: time === null ? [] : ['cosigned_at'],
        detail: 'the cosignature is not that of this witness over this checkpoint at this time',
      });
    }
    await step(page.length, null);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = [last.size, last.witness];
  }
}

/** @returns the time that the witness states, or null if the cosignature is not its own */
async function timeOf({ witness, line, note }: z.infer<typeof CosignatureRows>[number]): Promise<Date | null> {
  const key = parseWitnessKey(witness);
  const [signature, ...others] = parseCosignatures(utf8(line)) ?? [];
  const text = note === null ? null : parseNote(note)?.text;
  if (key === null || signature === undefined || others.length > 0 || text == null || !isCosignatureBy(signature, key))
    return null;
  return verifyCosignature(text, signature, key);
}

const CertificateRows = z.array(
  z.object({ manifest_key: Bytes, ledger_key: z.string(), certificate: z.string(), is_published: z.boolean() }),
);

async function auditCertificates({ db, findings }: Section): Promise<void> {
  const { rows } = await db.query(
    `select manifest_key, ledger_key, certificate, (
              exists (select from ledger_keys l where l.key = m.ledger_key) or not exists (select from ledger_keys)) as is_published
       from manifest_certificates m`,
  );
  for (const row of CertificateRows.parse(rows)) {
    const note = parseNote(row.certificate);
    const key = parseVerifierKey(row.ledger_key);
    const isGenuine =
      note !== null &&
      key !== null &&
      note.text === manifestKeyText(key.name, row.manifest_key) &&
      parseCheckpoint(note.text) === null &&
      (await verifyNote(note, key)) === 'signed';
    if (isGenuine && row.is_published) continue;
    findings.add({
      kind: 'stamp-invalid',
      table: 'manifest_certificates',
      key: toHex(row.manifest_key),
      detail: 'no key of the ledger certified this manifest key with this text',
    });
  }
}
