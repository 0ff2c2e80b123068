import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components';

export interface ButtonProps extends Omit<AriaButtonProps, 'isPending' | 'className'> {
  /** `primary` for the one action that a page is for, `danger` for what cannot be undone. */
  readonly look?: 'primary' | 'plain' | 'danger' | 'quiet';
  /** Whether the action runs. The button keeps the focus, and further presses do nothing. */
  readonly isBusy?: boolean;
}

export function Button({ look = 'plain', isBusy = false, onPress, ...props }: ButtonProps) {
  return (
    <AriaButton
      {...props}
      {...(onPress !== undefined && !isBusy && { onPress })}
      className={`button button-${look}${isBusy ? ' button-busy' : ''}`}
    />
  );
}
