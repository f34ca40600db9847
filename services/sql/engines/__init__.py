"""One module per database system, behind the protocol of `services.sql.engines.engine`."""
