import { type FormEvent, type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { Form } from 'react-aria-components';
import { ApiFailure } from '../api/failure.js';
import { useMessages } from '../i18n/locale.js';
import { Button } from './button.js';
import { useFailureText } from './failure-text.js';
import { fieldMessage } from './field-message.js';
import { Notice } from './notice.js';

/** The values of a form, by the names of its fields. */
export class Values {
  constructor(private readonly data: FormData) {}

  text(name: string): string {
    const value = this.data.get(name);
    return typeof value === 'string' ? value : '';
  }

  /** A number; null if the field is empty. */
  number(name: string): number | null {
    const text = this.text(name).trim();
    return text === '' ? null : Number(text);
  }

  isTicked(name: string): boolean {
    return this.data.has(name);
  }

  /** Every value of a name, for example of a group of boxes. */
  all(name: string): string[] {
    return this.data.getAll(name).filter((value) => typeof value === 'string');
  }
}

interface ActionFormProps {
  /** Sends the values. Its errors are shown at the fields that they concern. */
  readonly action: (values: Values) => Promise<unknown>;
  readonly submit: string;
  readonly look?: 'primary' | 'danger';
  readonly onCancel?: () => void;
  /** Shown after the action succeeded. */
  readonly done?: string;
  readonly isInline?: boolean;
  readonly children: ReactNode;
}

/** A form whose errors appear at the fields that the service names, and above it if it names none. */
export function ActionForm({ action, submit, look = 'primary', onCancel, done, isInline, children }: ActionFormProps) {
  const { common, fieldMessages } = useMessages();
  const failureText = useFailureText();
  const form = useRef<HTMLFormElement>(null);
  const [state, setState] = useState<'idle' | 'pending' | 'done'>('idle');
  const [failure, setFailure] = useState<unknown>(null);

  const send = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (state === 'pending') return;
    const values = new Values(new FormData(event.currentTarget));
    setState('pending');
    setFailure(null);
    try {
      await action(values);
      setState('done');
    } catch (error) {
      setFailure(error);
      setState('idle');
    }
  };

  const { atFields, elsewhere } = useMemo(
    () => placed(failure, namesIn(form.current), (message) => fieldMessage(fieldMessages, message)),
    [failure, fieldMessages],
  );
  const [firstName] = Object.keys(atFields);
  useEffect(() => {
    if (firstName === undefined) return;
    const field = form.current?.elements.namedItem(firstName);
    if (field instanceof HTMLElement) field.focus();
  }, [firstName]);
  return (
    <Form
      ref={form}
      className={isInline === true ? 'form form-inline' : 'form'}
      onSubmit={send}
      validationErrors={atFields}
    >
      {failure === null ? null : (
        <Notice kind="problem" isAnnounced takesFocus={firstName === undefined}>
          <p>{failureText(failure)}</p>
          {elsewhere.length === 0 ? null : (
            <ul>
              {elsewhere.map(({ field, message }) => (
                <li key={field + message}>
                  <code>{field}</code>: {message}
                </li>
              ))}
            </ul>
          )}
        </Notice>
      )}
      {children}
      <div className="form-actions">
        <Button type="submit" look={look} isBusy={state === 'pending'}>
          {submit}
        </Button>
        {onCancel === undefined ? null : <Button onPress={onCancel}>{common.cancel}</Button>}
        {done !== undefined && state === 'done' ? (
          <span role="status" className="done">
            {done}
          </span>
        ) : null}
      </div>
    </Form>
  );
}

function namesIn(form: HTMLFormElement | null): readonly string[] {
  if (form === null) return [];
  return [...form.elements].map((element) => element.getAttribute('name') ?? '').filter((name) => name !== '');
}

/** Errors by the field that shows them. `allowed_origins.2` is shown at `allowed_origins`. */
function placed(failure: unknown, names: readonly string[], worded: (message: string) => string) {
  const atFields: Record<string, string[]> = {};
  const elsewhere: { readonly field: string; readonly message: string }[] = [];
  for (const problem of failure instanceof ApiFailure ? failure.fields : []) {
    const name = names.find((one) => problem.field === one || problem.field.startsWith(`${one}.`));
    if (name === undefined) elsewhere.push({ field: problem.field, message: worded(problem.message) });
    else atFields[name] = [...(atFields[name] ?? []), worded(problem.message)];
  }
  return { atFields, elsewhere };
}
