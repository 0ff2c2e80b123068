import { useState } from 'react';
import { answerOf, dataOf } from '../../api/client.js';
import { useApi } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { ActionForm } from '../../ui/action-form.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { TextInput } from '../../ui/fields.js';
import { Loaded } from '../../ui/loaded.js';
import { Section } from '../../ui/page.js';
import { RowMenu } from '../../ui/row-menu.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { useAction } from '../../ui/use-action.js';
import { begun, hasPasskeys, usePasskeys } from '../auth/passkey.js';
import { useAuthOptions } from '../auth/use-auth-options.js';
import { ProofInputs, ShownCodes } from './second-factor.js';
import { useFactors } from './use-factors.js';

/** The passkeys of the user: add, rename, remove. */
export function Passkeys() {
  const { passkeys, common } = useMessages();
  const options = useAuthOptions();
  const query = useFactors();
  const api = useApi();
  const { proof } = usePasskeys();
  const rename = useAction(({ id, label }: { readonly id: string; readonly label: string }) =>
    dataOf(api.PATCH('/api/v1/auth/passkeys/{passkey_id}', { params: { path: { passkey_id: id } }, body: { label } })),
  );
  const remove = useAction(({ id, body }: { readonly id: string; readonly body: Proved }) =>
    answerOf(api.POST('/api/v1/auth/passkeys/{passkey_id}/remove', { params: { path: { passkey_id: id } }, body })),
  );
  return (
    <Section title={passkeys.title} lead={passkeys.lead}>
      <Loaded query={query}>
        {({ passkeys: items, enabled_at, isInForce }) => (
          <>
            {items.length === 0 ? (
              <p>{passkeys.noneYet}</p>
            ) : (
              <Table
                label={passkeys.title}
                items={items}
                keyOf={({ id }) => id}
                columns={[
                  {
                    label: passkeys.label,
                    cell: ({ label, was_verified }) => (
                      <>
                        {label} {was_verified ? null : <Badge kind="neutral">{passkeys.factorOnly}</Badge>}
                      </>
                    ),
                  },
                  { label: passkeys.created, phone: 'labelled', cell: ({ created_at }) => <Time at={created_at} /> },
                  {
                    label: passkeys.used,
                    phone: 'labelled',
                    cell: ({ last_used_at }) => (last_used_at === null ? passkeys.never : <Time at={last_used_at} />),
                  },
                  {
                    label: common.actions,
                    phone: 'top',
                    cell: ({ id, label }) => (
                      <RowMenu
                        about={label}
                        actions={[
                          {
                            label: passkeys.rename,
                            staysOpen: true,
                            content: <TextInput name="label" label={passkeys.label} defaultValue={label} isRequired />,
                            action: (values) => rename({ id, label: values.text('label') }),
                          },
                          {
                            label: passkeys.remove,
                            isDanger: true,
                            content: (
                              <>
                                <p>{passkeys.removeText}</p>
                                {items.length === 1 && enabled_at === null ? <p>{passkeys.removeLast}</p> : null}
                                <ProofInputs isInForce hasPasskey />
                              </>
                            ),
                            action: async (values) =>
                              remove({
                                id,
                                body: {
                                  current_password: values.text('current_password'),
                                  ...(await proof(values, items)),
                                },
                              }),
                          },
                        ]}
                      />
                    ),
                  },
                ]}
              />
            )}
            {items.some(({ was_verified }) => !was_verified) ? <p>{passkeys.factorOnlyText}</p> : null}
            {options.data?.passkeys === false ? (
              <p>{passkeys.notHere}</p>
            ) : hasPasskeys() ? (
              <AddPasskey isInForce={isInForce} items={items} />
            ) : (
              <p>{passkeys.notInBrowser}</p>
            )}
          </>
        )}
      </Loaded>
    </Section>
  );
}

type Proved = Parameters<typeof begun>[1];

interface AddPasskeyProps {
  readonly isInForce: boolean;
  readonly items: readonly { readonly credential_id: string }[];
}

function AddPasskey({ isInForce, items }: AddPasskeyProps) {
  const { passkeys, secondFactor } = useMessages();
  const api = useApi();
  const { proof, make } = usePasskeys();
  const [isOpen, setOpen] = useState(false);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const add = useAction(async ({ label, body }: { readonly label: string; readonly body: Proved }) => {
    const passkey = await make(await begun(api, body));
    return dataOf(api.POST('/api/v1/auth/passkeys/confirm', { body: { label, passkey } }));
  });
  return (
    <>
      <div className="actions">
        <Button onPress={() => setOpen(true)}>{passkeys.add}</Button>
      </div>
      <Dialog title={passkeys.add} isOpen={isOpen} onClose={() => setOpen(false)} staysOpen>
        <ActionForm
          submit={passkeys.add}
          onCancel={() => setOpen(false)}
          action={async (values) => {
            const factor = isInForce ? await proof(values, items) : {};
            const body = { current_password: values.text('current_password'), ...factor };
            const { recovery_codes } = await add({ label: values.text('label'), body });
            setOpen(false);
            setCodes(recovery_codes);
          }}
        >
          <p>{passkeys.addText}</p>
          <TextInput name="label" label={passkeys.label} hint={passkeys.labelHint} maxLength={100} isRequired />
          <ProofInputs isInForce={isInForce} hasPasskey={items.length > 0} />
        </ActionForm>
      </Dialog>
      <Dialog title={secondFactor.recovery} isOpen={codes !== null} onClose={() => setCodes(null)} isShownOnce>
        <ShownCodes codes={codes ?? []} onKept={() => setCodes(null)} />
      </Dialog>
    </>
  );
}
