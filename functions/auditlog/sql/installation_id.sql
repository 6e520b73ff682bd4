select id from installation
