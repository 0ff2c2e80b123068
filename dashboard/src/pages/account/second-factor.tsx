import { useState } from 'react';
import { answerOf, dataOf } from '../../api/client.js';
import { useApi } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { ActionForm, type Values } from '../../ui/action-form.js';
import { Button } from '../../ui/button.js';
import { Confirm } from '../../ui/confirm.js';
import { Copyable } from '../../ui/copy.js';
import { Dialog } from '../../ui/dialog.js';
import { TextInput } from '../../ui/fields.js';
import { Loaded } from '../../ui/loaded.js';
import { Notice } from '../../ui/notice.js';
import { Section } from '../../ui/page.js';
import { useAction } from '../../ui/use-action.js';
import { codeIn } from '../auth/code-in.js';
import { usePasskeys } from '../auth/passkey.js';
import { QrCode } from './qr-code.js';
import { useFactors } from './use-factors.js';

/** The authenticator app of the user, and the recovery codes: add it, replace them, remove it. */
export function SecondFactor() {
  const { secondFactor, account, passkeys: words } = useMessages();
  const { date, number } = useFormats();
  const api = useApi();
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const { proof } = usePasskeys();
  const query = useFactors();
  // A recovery code replaces no recovery codes.
  const appProof = async (values: Values) => {
    const totp_code = values.text('totp_code').trim();
    return totp_code === '' ? proof(values, query.data?.passkeys ?? []) : { totp_code };
  };
  const disable = useAction((values: Values) =>
    answerOf(
      api.POST('/api/v1/auth/second-factor/disable', {
        body: { current_password: values.text('current_password'), ...codeIn(values.text('totp_code')) },
      }),
    ),
  );
  const renew = useAction(async (values: Values) => {
    const { recovery_codes } = await dataOf(
      api.POST('/api/v1/auth/second-factor/recovery-codes', {
        body: { current_password: values.text('current_password'), ...(await appProof(values)) },
      }),
    );
    return recovery_codes;
  });
  return (
    <Section title={secondFactor.title} lead={secondFactor.lead}>
      <Loaded query={query}>
        {({ enabled_at, recovery_codes_left, passkeys, isInForce }) => (
          <>
            <p>
              {enabled_at !== null && secondFactor.on(date(enabled_at))}
              {enabled_at === null && (isInForce ? secondFactor.passkeyOnly : secondFactor.off)}{' '}
              {isInForce && secondFactor.codesLeft(number(recovery_codes_left))}
            </p>
            <div className="actions">
              {isInForce ? (
                <Confirm
                  label={secondFactor.renew}
                  isDanger={false}
                  action={async (values) => setCodes(await renew(values))}
                >
                  <p>{secondFactor.renewText}</p>
                  <PasswordInput label={account.currentPassword} />
                  <TextInput
                    name="totp_code"
                    label={secondFactor.code}
                    {...(passkeys.length > 0 && { hint: words.proofHint })}
                    autoComplete="one-time-code"
                    isRequired={passkeys.length === 0}
                  />
                </Confirm>
              ) : null}
              {enabled_at === null ? (
                <AddFactor passkeys={passkeys} />
              ) : (
                <Confirm label={secondFactor.disable} look="danger" action={disable}>
                  <p>{passkeys.length > 0 ? secondFactor.passkeyOnly : secondFactor.disableText}</p>
                  <PasswordInput label={account.currentPassword} />
                  <TextInput
                    name="totp_code"
                    label={secondFactor.codeOrRecovery}
                    autoComplete="one-time-code"
                    isRequired
                  />
                </Confirm>
              )}
            </div>
          </>
        )}
      </Loaded>
      <Dialog title={secondFactor.recovery} isOpen={codes !== null} onClose={() => setCodes(null)} isShownOnce>
        <ShownCodes codes={codes ?? []} onKept={() => setCodes(null)} />
      </Dialog>
    </Section>
  );
}

interface ShownCodesProps {
  readonly codes: readonly string[];
  readonly onKept: () => void;
}

/** Recovery codes, once. */
export function ShownCodes({ codes, onKept }: ShownCodesProps) {
  const { secondFactor } = useMessages();
  return (
    <>
      <Notice kind="warning">
        <p>{secondFactor.recoveryText}</p>
      </Notice>
      <Copyable text={codes.join('\n')} label={secondFactor.recovery} />
      <Button look="primary" onPress={onKept}>
        {secondFactor.kept}
      </Button>
    </>
  );
}

/** The current password, before a change of what signs in. */
function PasswordInput({ label }: { readonly label: string }) {
  return <TextInput name="current_password" type="password" label={label} autoComplete="current-password" isRequired />;
}

/** The password, and the second factor if there is one. */
export function ProofInputs({ isInForce, hasPasskey }: { readonly isInForce: boolean; readonly hasPasskey: boolean }) {
  const { account, passkeys } = useMessages();
  return (
    <>
      <PasswordInput label={account.currentPassword} />
      {isInForce ? (
        <TextInput
          name="totp_code"
          label={passkeys.proof}
          {...(hasPasskey && { hint: passkeys.proofHint })}
          isRequired={!hasPasskey}
          autoComplete="one-time-code"
        />
      ) : null}
    </>
  );
}

type Step =
  | { readonly name: 'closed' }
  | { readonly name: 'password' }
  | { readonly name: 'scan'; readonly secret: string; readonly uri: string }
  | { readonly name: 'codes'; readonly codes: readonly string[] };

type Passkeys = Parameters<ReturnType<typeof usePasskeys>['proof']>[1];

/** @param passkeys those of the user, one of which or a recovery code then proves the second factor */
function AddFactor({ passkeys }: { readonly passkeys: Passkeys }) {
  const { secondFactor } = useMessages();
  const [step, setStep] = useState<Step>({ name: 'closed' });
  return (
    <>
      <Button onPress={() => setStep({ name: 'password' })}>{secondFactor.begin}</Button>
      <Dialog
        title={step.name === 'codes' ? secondFactor.recovery : secondFactor.begin}
        isOpen={step.name !== 'closed'}
        onClose={() => setStep({ name: 'closed' })}
        staysOpen
        isShownOnce={step.name === 'codes'}
      >
        <Steps step={step} onStep={setStep} passkeys={passkeys} />
      </Dialog>
    </>
  );
}

interface StepsProps {
  readonly step: Step;
  readonly onStep: (step: Step) => void;
  readonly passkeys: Passkeys;
}

function Steps({ step, onStep, passkeys }: StepsProps) {
  const { secondFactor } = useMessages();
  const api = useApi();
  const { proof } = usePasskeys();
  const hasPasskey = passkeys.length > 0;
  const close = () => onStep({ name: 'closed' });
  const begin = useAction(async (values: Values) => {
    const factor = hasPasskey ? await proof(values, passkeys) : {};
    const body = { current_password: values.text('current_password'), ...factor };
    return dataOf(api.POST('/api/v1/auth/second-factor', { body }));
  });
  // The lists are not read again, because the codes must stay on the screen.
  const confirm = (values: Values) =>
    dataOf(api.POST('/api/v1/auth/second-factor/confirm', { body: { totp_code: values.text('totp_code').trim() } }));
  const finish = useAction(async () => close());
  if (step.name === 'closed') return null;
  if (step.name === 'password') {
    return (
      <ActionForm
        submit={secondFactor.begin}
        onCancel={close}
        action={async (values) => {
          const { secret, otpauth_uri } = await begin(values);
          onStep({ name: 'scan', secret, uri: otpauth_uri });
        }}
      >
        <p>{secondFactor.beginText}</p>
        <ProofInputs isInForce={hasPasskey} hasPasskey={hasPasskey} />
      </ActionForm>
    );
  }
  if (step.name === 'scan') {
    return (
      <ActionForm
        submit={secondFactor.confirm}
        onCancel={close}
        action={async (values) => {
          const { recovery_codes } = await confirm(values);
          if (recovery_codes === null) await finish(undefined);
          else onStep({ name: 'codes', codes: recovery_codes });
        }}
      >
        <p>{secondFactor.scan}</p>
        <QrCode text={step.uri} label={secondFactor.picture} />
        <p className="label">{secondFactor.secret}</p>
        <Copyable text={step.secret} label={secondFactor.secret} />
        <TextInput name="totp_code" label={secondFactor.code} autoComplete="one-time-code" isRequired takesFocus />
      </ActionForm>
    );
  }
  return <ShownCodes codes={step.codes} onKept={() => void finish(undefined)} />;
}
