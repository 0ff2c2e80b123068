import { useState } from 'react';
import type { User } from '../../api/types.js';
import { useApi, useMay, useUser } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { grantableRoles } from '../../rights.js';
import { Badge } from '../../ui/badge.js';
import { Loaded, More } from '../../ui/loaded.js';
import { Page, Section } from '../../ui/page.js';
import { Table } from '../../ui/table.js';
import { Ago } from '../../ui/time.js';
import { usePages } from '../../ui/use-pages.js';
import { Invitations } from './invitations.js';
import { type Delivery, LinkDialog } from './link-dialog.js';
import { UserActions } from './user-actions.js';

/** The users of the organisation and its invitations. */
export function Team() {
  const { team, common, shell, secondFactor } = useMessages();
  const api = useApi();
  const me = useUser();
  const mayChange = useMay('changeTeam');
  const [delivery, setDelivery] = useState<Delivery | null>(null);
  const query = usePages(['users'], (cursor) => api.GET('/api/v1/users', { params: { query: { limit: 50, cursor } } }));
  const mayManage = (user: User) => user.id !== me.id && grantableRoles(me.role).includes(user.role);
  return (
    <Page title={team.title} lead={team.lead}>
      <Section title={team.users}>
        <Loaded query={query}>
          {(items) => (
            <Table
              label={team.users}
              items={items}
              keyOf={({ id }) => id}
              columns={[
                {
                  label: team.email,
                  cell: ({ id, email }) => (
                    <>
                      {email} {id === me.id ? <span className="hint">({team.you})</span> : null}
                    </>
                  ),
                },
                { label: team.role, cell: ({ role }) => <span className="whole-words">{shell.roles[role]}</span> },
                {
                  label: team.lastSignIn,
                  phone: 'labelled',
                  cell: ({ last_sign_in_at }) =>
                    last_sign_in_at === null ? common.never : <Ago at={last_sign_in_at} />,
                },
                {
                  label: secondFactor.has,
                  phone: 'labelled',
                  cell: ({ has_second_factor }) => (has_second_factor ? common.yes : common.no),
                },
                {
                  label: common.state,
                  phone: 'top',
                  cell: ({ is_disabled }) => (
                    <Badge kind={is_disabled ? 'bad' : 'good'}>{is_disabled ? team.disabled : team.active}</Badge>
                  ),
                },
                ...(mayChange
                  ? [
                      {
                        label: common.actions,
                        cell: (user: User) =>
                          mayManage(user) ? <UserActions user={user} onLink={setDelivery} /> : null,
                      },
                    ]
                  : []),
              ]}
            />
          )}
        </Loaded>
        <More query={query} />
      </Section>
      <Invitations onLink={setDelivery} />
      <LinkDialog delivery={delivery} onClose={() => setDelivery(null)} />
    </Page>
  );
}
