/**
 * Loaded before the tests of a process. A rejected promise that no code handles fails the run, even if code under test,
 * such as a serving proxy, keeps it from ending the process.
 * @module
 */
addEventListener("unhandledrejection", (event) => reportError(event.reason));
