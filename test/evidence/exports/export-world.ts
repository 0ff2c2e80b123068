import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { TokensResponse } from '../../../schemas/api/auth.js';
import { type EvidenceExport, EvidenceExportAnswer } from '../../../schemas/api/panel/exports.js';
import type { Role } from '../../../src/accounts/users/user-directory.js';
import { createUser } from '../../../src/accounts/users/users.js';
import { ledgerKeyFile } from '../../../src/app/ledger-files.js';
import { tsaRootFile } from '../../../src/app/timestamping.js';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { type PanelApp, type PanelUser, startPanel } from '../../api/panel/panel-fixture.js';
import type { Answer } from '../../api/server/running-app.js';
import { holdGate, putGate } from '../../support/insert-gate.js';
import { postSigned, signedHeaders } from '../../support/signed-requests.js';
import { type BundledCommand, bundleCommand } from '../../verifier/bundled-command.js';

const Recorded = z.object({ data: z.object({ results: z.array(z.object({ consent_token: z.string() })) }) });

/** The panel allows 300 requests per minute and user. */
const POLL_MS = 300;

/** The complete service with a seeded site, users of its tenant, and the verifier. */
export interface ExportWorld {
  readonly panel: PanelApp;
  readonly demo: SeededDemo;
  readonly siteId: string;
  user(role: Role): PanelUser;
  /**
   * Records one consent for each visitor, and waits until they are stamped.
   * @param signature an image for each
   * @returns their event ids
   */
  record(visitors: readonly string[], signature?: Uint8Array): Promise<string[]>;
  create(body?: object, as?: PanelUser): Promise<EvidenceExport>;
  read(exportId: string): Promise<EvidenceExport>;
  /** Waits until an export has one of these states. */
  reaches(exportId: string, ...states: readonly EvidenceExport['state'][]): Promise<EvidenceExport>;
  download(exportId: string, headers?: Record<string, string>, as?: PanelUser): Promise<Response>;
  s2s(method: 'GET' | 'POST', path: string, body?: object): Promise<Response>;
  /** Blocks the storage of chunks while `work` runs: exports start and remain running. */
  holdPackages(work: () => Promise<void>): Promise<void>;
  /** Runs `consent-verify check`. @returns exit code and report */
  verify(bytes: Uint8Array): { readonly status: number | null; readonly stdout: string };
  stop(): Promise<void>;
}

export async function startExportWorld(env: Readonly<Record<string, string>> = {}): Promise<ExportWorld> {
  const panel = await startPanel('serve', env);
  const { app } = panel;
  const { adminPool, config } = app.service.installation;
  const demo = await app.seed();
  const siteId = demo.site.id;
  const users = new Map<Role, PanelUser>();
  for (const role of ['owner', 'dpo', 'viewer'] as const) {
    const email = `${role}-${demo.tenant_id}@tenant.example`;
    const password = 'a password that is long enough';
    const { id } = await createUser(adminPool, { tenantId: demo.tenant_id, email, password, role });
    const { data } = TokensResponse.parse((await panel.signIn(email, password)).body);
    users.set(role, { id, email, password, accessToken: data.access_token, refreshToken: data.refresh_token });
  }
  const user = (role: Role): PanelUser => {
    const found = users.get(role);
    if (found === undefined) throw new Error(`there is no ${role}`);
    return found;
  };
  const { data: apiTokens } = TokensResponse.parse(
    (await panel.signIn(demo.api_user.email, demo.api_user.password)).body,
  );
  const policy = demo.documents.find(({ slug }) => slug === 'cookie-policy');
  const versionId = policy?.versions.find(({ state, language }) => state === 'active' && language === 'en')?.id ?? '';
  const command: BundledCommand = bundleCommand();
  command.write('root.pem', await readFile(tsaRootFile(config)));
  await putGate(app.superuser, 'export_chunks');
  const base = `/sites/${siteId}/exports`;

  const stampedConsents = async (): Promise<number> => {
    const { rows } = await app.superuser.query(
      `select count(*) as count from leaves l join record_keys k on k.event_id = l.event_id
        where l.stream = $1 and l.batch < (select coalesce(max(size), 0) from checkpoints)`,
      [`consents-${siteId}`],
    );
    return Number(rows[0]?.count);
  };
  const answered = ({ body }: Answer): EvidenceExport => EvidenceExportAnswer.parse(body).data;
  const world: ExportWorld = {
    panel,
    demo,
    siteId,
    user,
    record: async (visitors, signature) => {
      const wanted = (await stampedConsents()) + visitors.length;
      const ids: string[] = [];
      const size = signature === undefined ? 100 : 1;
      for (let done = 0; done < visitors.length; done += size) {
        const consents = visitors.slice(done, done + size).map((visitor) => ({
          consent_type: 'cookie',
          decision: 'accepted',
          document_version_id: versionId,
          idempotency_key: `${visitor}-${Math.random()}`,
          visitor_id: visitor,
          signer_email: `${visitor}@person.example`,
          ...(signature !== undefined && { signature_image: Buffer.from(signature).toString('base64') }),
        }));
        const answer = await postSigned(app.url, demo.keys.write, '/tool/v1/consents/batch', { consents });
        const { data } = Recorded.parse(await answer.json());
        ids.push(
          ...data.results.map(({ consent_token: token }) =>
            token.slice(3).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
          ),
        );
      }
      while ((await stampedConsents()) < wanted) await sleep(50);
      return ids;
    },
    create: async (body = {}, as = user('dpo')) => {
      const answer = await panel.as(as, 'POST', base, { reason: 'for the test', ...body });
      if (answer.status !== 202) throw new Error(JSON.stringify(answer.body));
      return answered({ ...answer, body: { data: { ...Object(Object(answer.body).data), filter_disclosures: [] } } });
    },
    read: async (id) => answered(await panel.as(user('dpo'), 'GET', `${base}/${id}`)),
    reaches: async (id, ...states) => {
      for (;;) {
        const found = await world.read(id);
        if (states.includes(found.state)) return found;
        if (!['queued', 'running'].includes(found.state)) throw new Error(`${found.state}: ${found.reason}`);
        await sleep(POLL_MS);
      }
    },
    download: (id, headers = {}, as = user('dpo')) =>
      fetch(`${app.url}/api/v1${base}/${id}/package`, {
        headers: { authorization: `Bearer ${as.accessToken}`, ...headers },
      }),
    s2s: (method, path, body) => {
      const text = body === undefined ? '' : JSON.stringify(body);
      const headers: Record<string, string> = {
        ...(method === 'POST' ? signedHeaders(demo.keys.write, path, text) : { 'x-api-key': demo.keys.read }),
        authorization: `Bearer ${apiTokens.access_token}`,
      };
      return fetch(app.url + path, { method, headers, ...(method === 'POST' && { body: text }) });
    },
    holdPackages: (work) => holdGate(app.superuser, work),
    verify: (bytes) => {
      command.write('package.zip', bytes);
      const trust = ['--tsa-ca', 'root.pem', '--ledger-key', ledgerKeyFile(config)];
      return command.run('check', 'package.zip', ...trust, '--json');
    },
    stop: async () => {
      command.remove();
      await panel.stop();
    },
  };
  return world;
}
