import { useMessages } from '../../i18n/locale.js';
import type { Values } from '../../ui/action-form.js';
import { TextInput } from '../../ui/fields.js';

interface TokenAndPasswordProps {
  /** Name of the field for the token. */
  readonly label: string;
  /** The token of the link, which needs no field; empty if the page was opened without one. */
  readonly token: string;
}

/** The fields of a form that sets a password with a token. */
export function TokenAndPassword({ label, token }: TokenAndPasswordProps) {
  const { auth } = useMessages();
  return (
    <>
      {token === '' ? (
        <TextInput name="token" label={label} autoComplete="off" isRequired />
      ) : (
        <input type="hidden" name="token" value={token} />
      )}
      <TextInput
        name="password"
        type="password"
        label={auth.newPassword}
        hint={auth.passwordHint}
        autoComplete="new-password"
        isRequired
      />
    </>
  );
}

/** Returns the token and the password that the user entered into these fields. */
export function tokenAndPassword(values: Values) {
  return { token: values.text('token').trim(), password: values.text('password') };
}
