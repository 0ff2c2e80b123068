import { useMessages } from '../../i18n/locale.js';
import type { Values } from '../../ui/action-form.js';
import { TextInput } from '../../ui/fields.js';
import { useTokenInLink } from './token-in-link.js';

/** The fields of a form that sets a password with a token. @param label name of the field for the token */
export function TokenAndPassword({ label }: { readonly label: string }) {
  const { auth } = useMessages();
  const token = useTokenInLink();
  return (
    <>
      <TextInput name="token" label={label} defaultValue={token} autoComplete="off" isRequired />
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
