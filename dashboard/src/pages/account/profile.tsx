import { useState } from 'react';
import { dataOf } from '../../api/client.js';
import { useApi, useSessionStore, useUser } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { ActionForm, type Values } from '../../ui/action-form.js';
import { Badge } from '../../ui/badge.js';
import { Confirm } from '../../ui/confirm.js';
import { TextInput } from '../../ui/fields.js';
import { Loaded, More } from '../../ui/loaded.js';
import { Page, Section } from '../../ui/page.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { useAction } from '../../ui/use-action.js';
import { usePages } from '../../ui/use-pages.js';
import { Passkeys } from './passkeys.js';
import { SecondFactor } from './second-factor.js';

/** The password, the passkeys, the second factor and the sign-ins of the user. */
export function Profile() {
  const { account } = useMessages();
  const { email } = useUser();
  return (
    <Page title={account.profileTitle} lead={email}>
      <Password />
      <Passkeys />
      <SecondFactor />
      <SignIns />
    </Page>
  );
}

function Password() {
  const { account, auth } = useMessages();
  const api = useApi();
  const [changes, setChanges] = useState(0);
  const change = useAction((values: Values) =>
    dataOf(
      api.POST('/api/v1/auth/change-password', {
        body: { current_password: values.text('current_password'), new_password: values.text('new_password') },
      }),
    ),
  );
  return (
    <Section title={account.password}>
      <ActionForm
        submit={account.changePassword}
        done={account.changed}
        action={async (values) => {
          await change(values);
          setChanges(changes + 1);
        }}
      >
        {/* Empty again after a change. */}
        <div key={changes} className="stack">
          <TextInput
            name="current_password"
            type="password"
            label={account.currentPassword}
            autoComplete="current-password"
            isRequired
          />
          <TextInput
            name="new_password"
            type="password"
            label={account.newPassword}
            hint={auth.passwordHint}
            autoComplete="new-password"
            isRequired
          />
        </div>
      </ActionForm>
    </Section>
  );
}

function SignIns() {
  const { account, common } = useMessages();
  const api = useApi();
  const session = useSessionStore();
  const query = usePages(['sign-ins'], (cursor) =>
    api.GET('/api/v1/auth/sign-ins', { params: { query: { limit: 50, cursor } } }),
  );
  const end = useAction((id: string) =>
    dataOf(api.DELETE('/api/v1/auth/sign-ins/{sign_in_id}', { params: { path: { sign_in_id: id } } })),
  );
  const endAll = async () => {
    await dataOf(api.POST('/api/v1/auth/logout', { body: { everywhere: true } }));
    session.end();
  };
  return (
    <Section
      title={account.signIns}
      lead={account.signInsLead}
      actions={
        <Confirm label={account.everywhere} look="danger" action={endAll}>
          <p>{account.everywhereText}</p>
        </Confirm>
      }
    >
      <Loaded query={query}>
        {(items) => (
          <Table
            label={account.signIns}
            items={items}
            keyOf={({ id }) => id}
            columns={[
              { label: account.started, phone: 'labelled', cell: ({ started_at }) => <Time at={started_at} /> },
              { label: account.renewed, phone: 'labelled', cell: ({ renewed_at }) => <Time at={renewed_at} /> },
              { label: account.ends, phone: 'labelled', cell: ({ lapses_at }) => <Time at={lapses_at} /> },
              {
                label: common.actions,
                cell: ({ id, is_current, started_at }) =>
                  is_current ? (
                    <Badge kind="good">{account.current}</Badge>
                  ) : (
                    <Confirm label={account.end} about={started_at} look="danger" action={() => end(id)}>
                      <p>{account.endText}</p>
                    </Confirm>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
      <More query={query} />
    </Section>
  );
}
