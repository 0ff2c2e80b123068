import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { acceptInvitation } from '../../../src/accounts/sign-in/accept-invitation.js';
import { createInvitation } from '../../../src/accounts/sign-in/invitations.js';
import { createPasswordReset, resetPassword } from '../../../src/accounts/sign-in/set-password.js';
import { readSignedInUser } from '../../../src/accounts/users/user-directory.js';
import type { RowSeals } from '../../../src/platform/keys/index.js';
import { RecordingTenant } from '../../api/panel/recording-tenant.js';
import { type RunningApp, startApp } from '../../api/server/running-app.js';

const Id = z.tuple([z.object({ id: z.uuid() })]);

describe('a person who alters rows between two reads of the service', () => {
  let app: RunningApp;
  let shop: RecordingTenant;
  beforeAll(async () => {
    app = await startApp('api');
    shop = await RecordingTenant.of(app);
  });
  afterAll(() => app.stop());

  const userOf = async (role: string): Promise<string> => {
    const { rows } = await app.superuser.query('select id from users where tenant_id = $1 and role = $2 limit 1', [
      shop.backend.demo.tenant_id,
      role,
    ]);
    return Id.parse(rows)[0].id;
  };
  const sql = async (text: string, values: readonly unknown[]): Promise<void> => {
    await app.superuser.query(text, [...values]);
  };
  /** Seals of the service; each check is followed by the change. */
  const altering = (change: () => Promise<void>): RowSeals => ({
    open: async (row, columns) => {
      const opened = await app.service.installation.keyring.open(row, columns);
      await change();
      return opened;
    },
  });

  it('does not turn a sign-in into that of another user', async () => {
    const [viewer, owner] = [await userOf('viewer'), await userOf('owner')];
    const found = await app.superuser.query('select id from sign_ins where user_id = $1', [viewer]);
    const [{ id }] = Id.parse(found.rows);
    const seals = altering(() => sql('update sign_ins set user_id = $2 where id = $1', [id, owner]));
    const user = await readSignedInUser(app.service.installation.apiPool, seals, id);
    await sql('update sign_ins set user_id = $2 where id = $1', [id, viewer]);
    expect(user?.id).toBe(viewer);
  });

  /** Shows a user with a higher role when the user's rights are read, and restores it for the seal. */
  const lending = async (userId: string, [own, lent]: readonly [string, string]) => {
    const show = (role: string) => sql('update users set role = $2 where id = $1', [userId, role]);
    let shown = lent;
    await show(shown);
    const seals = altering(async () => {
      shown = shown === own ? lent : own;
      await show(shown);
    });
    return { seals, end: () => show(own) };
  };

  it('does not lend an inviter a role', async () => {
    const { adminPool } = app.service.installation;
    const [tenantId, inviter] = [shop.backend.demo.tenant_id, await userOf('admin')];
    const email = `eve-${randomUUID()}@tenant.example`;
    const { token } = await createInvitation(adminPool, { tenantId, email, role: 'owner', invitedBy: inviter });
    const { seals, end } = await lending(inviter, ['admin', 'owner']);
    const accepted = await acceptInvitation(adminPool, seals, token, 'a long enough password');
    await end();
    expect(accepted).toBeNull();
  });

  it('does not lend the creator of a password reset a role', async () => {
    const { adminPool } = app.service.installation;
    const [owner, maker] = [await userOf('owner'), await userOf('admin')];
    const { token } = await createPasswordReset(adminPool, { id: owner, disabledAt: null }, maker);
    const { seals, end } = await lending(maker, ['admin', 'owner']);
    const ended = await resetPassword(adminPool, seals, token, 'a long enough password', null);
    await end();
    expect(ended).toBeNull();
  });
});
