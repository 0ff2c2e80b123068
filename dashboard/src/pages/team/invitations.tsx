import { useState } from 'react';
import { dataOf } from '../../api/client.js';
import type { Invitation } from '../../api/types.js';
import { useApi, useMay, useUser } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { grantableRoles } from '../../rights.js';
import { ActionForm, type Values } from '../../ui/action-form.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { TextInput } from '../../ui/fields.js';
import { Loaded, More } from '../../ui/loaded.js';
import { Section } from '../../ui/page.js';
import { RowMenu } from '../../ui/row-menu.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { useAction } from '../../ui/use-action.js';
import { usePages } from '../../ui/use-pages.js';
import type { Delivery } from './link-dialog.js';
import { RoleInput, roleIn } from './role-input.js';

interface InvitationsProps {
  readonly onLink: (delivery: Delivery) => void;
}

/** Open invitations, and how to make one. */
export function Invitations({ onLink }: InvitationsProps) {
  const { team, common, shell } = useMessages();
  const api = useApi();
  const me = useUser();
  const mayChange = useMay('changeTeam');
  const query = usePages(['invitations'], (cursor) =>
    api.GET('/api/v1/invitations', { params: { query: { state: 'open', limit: 50, cursor } } }),
  );
  const revoke = useAction((id: string) =>
    dataOf(api.DELETE('/api/v1/invitations/{invitation_id}', { params: { path: { invitation_id: id } } })),
  );
  return (
    <Section title={team.invitations} actions={mayChange ? <Invite onLink={onLink} /> : null}>
      <Loaded query={query}>
        {(items) =>
          items.length === 0 ? (
            <p>{team.noInvitations}</p>
          ) : (
            <Table
              label={team.invitations}
              items={items}
              keyOf={({ id }) => id}
              columns={[
                { label: team.email, cell: ({ email }) => email },
                { label: team.role, cell: ({ role }) => <span className="whole-words">{shell.roles[role]}</span> },
                { label: team.validUntil, phone: 'labelled', cell: ({ expires_at }) => <Time at={expires_at} /> },
                ...(mayChange
                  ? [
                      {
                        label: common.actions,
                        cell: ({ id, email, role }: Invitation) =>
                          grantableRoles(me.role).includes(role) ? (
                            <RowMenu
                              about={email}
                              actions={[
                                {
                                  label: team.revoke,
                                  isDanger: true,
                                  content: <p>{team.revokeText}</p>,
                                  action: () => revoke(id),
                                },
                              ]}
                            />
                          ) : null,
                      },
                    ]
                  : []),
              ]}
            />
          )
        }
      </Loaded>
      <More query={query} />
    </Section>
  );
}

function Invite({ onLink }: InvitationsProps) {
  const { team } = useMessages();
  const api = useApi();
  const me = useUser();
  const [isOpen, setOpen] = useState(false);
  const invite = useAction((values: Values) =>
    dataOf(api.POST('/api/v1/invitations', { body: { email: values.text('email').trim(), role: roleIn(values) } })),
  );
  return (
    <>
      <Button look="primary" onPress={() => setOpen(true)}>
        {team.invite}
      </Button>
      <Dialog title={team.invite} isOpen={isOpen} onClose={() => setOpen(false)}>
        <ActionForm
          submit={team.invite}
          onCancel={() => setOpen(false)}
          action={async (values) => {
            const { email, token } = await invite(values);
            setOpen(false);
            onLink({ page: 'accept-invitation', email, token });
          }}
        >
          <TextInput name="email" type="email" label={team.email} autoComplete="off" isRequired />
          <RoleInput roles={grantableRoles(me.role)} defaultRole="viewer" />
        </ActionForm>
      </Dialog>
    </>
  );
}
